"""Names of pytorch-metric-learning and of other tools."""

import inspect

import pytest
from pytorch_metric_learning import losses, miners, samplers

from podium.orchestrator.study.loss_facts import facts_of
from podium.trainables.errors import TrialInputError, near_names
from podium.trainables.other_names import _LITERATURE, PML_NAMES, usual_name
from podium.trainables.registry import names
from podium.trainables.settings.loss_expression import parse_loss

# What those modules offer that is no loss, miner or sampler by itself.
NO_NAMES = {
    *("BaseLossWrapper", "BaseMetricLossFunction", "CrossBatchMemory", "MultipleLosses"),
    *("EmbeddingRegularizerMixin", "WeightRegularizerMixin", "BaseMiner"),
    "EmbeddingsAlreadyPackagedAsTriplets",
}
NEW_IN_3 = {
    *("DecoupledContrastiveLoss", "DynamicArcFaceLoss", "GE2ELoss", "MultiSupConLoss"),
    "SelectivelyContrastiveTripletLoss",
}


def test_every_loss_miner_and_sampler_of_the_library_is_listed():
    there = {
        name
        for module in (losses, miners, samplers)
        for name, value in vars(module).items()
        if inspect.isclass(value)
    }
    assert there - NO_NAMES == PML_NAMES.keys() - NEW_IN_3


def test_what_it_is_called_here_is_there():
    here = {*names("losses"), *names("miners"), *names("batch_samplers")}
    assert {*filter(None, PML_NAMES.values()), *_LITERATURE.values()} <= here
    assert not any(map(usual_name, names("losses")))


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


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("InfoNCE", "nt_xent"),
        ("info_nce_loss", "nt_xent"),
        ("Sphere Loss", "normalized_softmax"),
        ("AM-Softmax", "cosface"),
        ("RS@k", "recall_at_k"),
    ],
)
def test_a_loss_as_papers_call_it_is_answered_with_its_name_here(given, meant):
    with pytest.raises(TrialInputError, match=f"did you mean '{meant}'"):
        facts_of(given)


def test_a_loss_of_the_library_is_answered_with_its_name_here_and_its_import_path():
    with pytest.raises(TrialInputError, match=r"is multi_similarity here; .*losses:MultiSimilar"):
        parse_loss("MultiSimilarityLoss")
    with pytest.raises(TrialInputError, match=r"has no name here; .*losses:InstanceLoss"):
        parse_loss("InstanceLoss")
