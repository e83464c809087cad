"""How each loss of a study is trained in each block, for the rules on training."""

from collections.abc import Iterable, Mapping, Sequence
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
from podium.search_spaces.parameters import Value
from podium.trainables.settings.training_settings import TrainingSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedLoss:
    """One loss in one block.

    Attributes:
        block: block, whose embedding dimension does not matter, without an image size.
        loss: name of the loss.
        training: training settings outside of searches.
        configs: values of all hyperparameters: first those outside of searches, then these with
            one parameter at an end of what is searched.
    """

    block: Block
    loss: str
    training: TrainingSettings
    configs: Sequence[Mapping[str, Value]]


def trained_losses(study: Study) -> tuple[TrainedLoss, ...]:
    """Every loss in one block of each data set and backbone."""
    dim = study.embedding_dims[0]
    return tuple(
        TrainedLoss(
            block=block,
            loss=loss,
            training=training_of(study, block).with_values(values),
            configs=[*extreme_configs(values, space_of(study, loss, values))],
        )
        for dataset in study.datasets
        for backbone in study.backbones
        for block in [Block(dataset=dataset.label, backbone=backbone.name, embedding_dim=dim)]
        for loss in study.loss_names
        for values in [unsearched_values(study, block, loss)]
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
