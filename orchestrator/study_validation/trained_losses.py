"""How each loss of a study is trained in each block, for the rules on training."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from podium.orchestrator.study.blocks import dataset_of
from podium.orchestrator.study.configs import (
    extreme_configs,
    space_of,
    training_of,
    unsearched_values,
)
from podium.orchestrator.study.study import Block, Study
from podium.orchestrator.study.unused_settings import unused_by
from podium.orchestrator.study_parser.problems import Problems
from podium.search_spaces.parameters import Value
from podium.trainables.dataset_interface.dataset import DatasetFacts
from podium.trainables.dataset_interface.load_dataset import dataset_facts
from podium.trainables.errors import TrialInputError
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.settings.trial_settings import DatasetSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedLoss:
    """One loss in one block.

    Attributes:
        block: block, whose embedding dimension does not matter, without an image size.
        loss: name of the loss; None for all while the losses of the study are not known.
        training: training settings outside of searches.
        configs: values of all hyperparameters: first those outside of searches, then these with
            one parameter at an end of what is searched.
    """

    block: Block
    loss: str | None
    training: TrainingSettings
    configs: Sequence[dict[str, Value]]


def trained_losses(study: Study, problems: Problems) -> tuple[TrainedLoss, ...]:
    """Every loss in one block of each data set and backbone.

    An unknown data set gets the recipe's settings for all data sets.
    """
    is_known = not problems.concern("losses", "search.space", "search.tune")
    losses = study.loss_names if is_known else (None,)
    blocks = [
        Block(dataset=dataset.label, backbone=backbone.name, embedding_dim=study.embedding_dims[0])
        for dataset in study.datasets
        for backbone in study.backbones
    ]
    return tuple(_trained(study, block, loss) for block in blocks for loss in losses)


def _trained(study: Study, block: Block, loss: str | None) -> TrainedLoss:
    training = training_of(study, block)
    if loss is None:
        return TrainedLoss(block=block, loss=None, training=training, configs=({},))
    values = unsearched_values(study, block, loss)
    # Without values: around an impossible learning rate there is no range.
    configs = [dict(config) for config in extreme_configs(values, space_of(study, loss))]
    return TrainedLoss(
        block=block, loss=loss, training=training.with_values(values), configs=configs
    )


def unused_by_all(study: Study, items: Iterable[TrainedLoss]) -> dict[str, str]:
    """Hyperparameter or setting that changes nothing for any of ``items`` -> why, in words."""
    found = [
        unused_by(
            item.loss,
            item.training,
            item.configs,
            dataset=dataset_of(study, item.block),
            backbone=item.block.backbone,
        )
        for item in items
    ]
    names = set[str]().union(*found).intersection(*found)
    return {name: "; ".join(dict.fromkeys(reasons[name] for reasons in found)) for name in names}


def known_datasets(
    study: Study, problems: Problems
) -> Iterator[tuple[int, DatasetSettings, DatasetFacts]]:
    """Number, settings and facts of every data set that nothing is wrong with."""
    for index, dataset in enumerate(study.datasets):
        if not problems.concern(("datasets", index)):
            with suppress(TrialInputError):  # noted where data sets are checked
                yield index, dataset, dataset_facts(dataset)
