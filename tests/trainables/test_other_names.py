"""Names of pytorch-metric-learning and of other tools."""

import inspect

import pytest
from pytorch_metric_learning import losses, miners, samplers

from podium.trainables.errors import TrialInputError, near_names
from podium.trainables.other_names import PML_NAMES
from podium.trainables.registry import names
from podium.trainables.settings.loss_expression import parse_loss

# What those modules offer that is no loss, miner or sampler by itself.
NO_NAMES = {
    *("BaseLossWrapper", "BaseMetricLossFunction", "CrossBatchMemory", "MultipleLosses"),
    *("EmbeddingRegularizerMixin", "WeightRegularizerMixin", "BaseMiner"),
    "EmbeddingsAlreadyPackagedAsTriplets",
}


def test_every_loss_miner_and_sampler_of_the_library_is_listed():
    there = {
        name
        for module in (losses, miners, samplers)
        for name, value in vars(module).items()
        if inspect.isclass(value)
    }
    assert there - NO_NAMES == set(PML_NAMES)


def test_what_it_is_called_here_is_there():
    here = {*names("losses"), *names("miners"), *names("batch_samplers")}
    assert {name for name in PML_NAMES.values() if name} <= here


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("lr", "learning_rate"),
        ("batch-size", "batch_size"),
        ("Weight_Decay", "weight_decay"),
        ("wd", "weight_decay"),
        ("epochs_num", "epochs"),
        ("MPerClassSampler", "balanced"),
    ],
)
def test_a_name_of_other_tools_is_answered_with_the_one_it_means(given, meant):
    known = ["balanced", "batch_size", "epochs", "learning_rate", "micro_batch_size"]
    assert near_names(given, [*known, "proxy_learning_rate", "weight_decay"]) == [meant]


def test_a_loss_of_the_library_is_answered_with_its_name_here_and_its_import_path():
    with pytest.raises(TrialInputError, match=r"is multi_similarity here; .*losses:MultiSimilar"):
        parse_loss("MultiSimilarityLoss")
    with pytest.raises(TrialInputError, match=r"has no name here; .*losses:InstanceLoss"):
        parse_loss("InstanceLoss")
