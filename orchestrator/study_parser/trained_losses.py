"""How each loss of a study is trained in each block, for the rules on training."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from orchestrator.study.blocks import blocks
from orchestrator.study.configs import training_of, unsearched_values
from orchestrator.study.study import Block, Study
from orchestrator.study_parser.problems import Problems
from search_spaces.parameters import Value
from trainables.errors import TrialInputError
from trainables.settings.training_settings import TrainingSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedLoss:
    """One loss in one block.

    Attributes:
        block: block, whose embedding dimension and image size do not matter.
        loss: name of the loss; None for all while the losses of the study are not known.
        training: training settings outside of searches.
        values: value of every hyperparameter outside of searches.
    """

    block: Block
    loss: str | None
    training: TrainingSettings
    values: dict[str, Value]


def trained_losses(study: Study, problems: Problems) -> tuple[TrainedLoss, ...]:
    """Every loss in one block of each data set and backbone.

    An unknown data set gets the recipe's settings for all data sets.
    """
    losses: tuple[str | None, ...] = study.loss_names
    if problems.concern(("losses",), ("search", "space"), ("search", "tune")):
        losses = (None,)
    return tuple(
        _trained(study, block, loss) for block in _representatives(study) for loss in losses
    )


def _trained(study: Study, block: Block, loss: str | None) -> TrainedLoss:
    training = training_of(study, block)
    values = {} if loss is None else unsearched_values(study, block, loss)
    return TrainedLoss(
        block=block, loss=loss, training=training.with_values(values), values=values
    )


def _representatives(study: Study) -> Iterator[Block]:
    for dataset in study.datasets:
        one = replace(
            study,
            datasets=(dataset,),
            embedding_dims=study.embedding_dims[:1],
            image_sizes=study.image_sizes[:1],
        )
        try:
            yield from blocks(one)
        except TrialInputError:  # noted where data sets are checked
            for backbone in study.backbones:
                yield Block(
                    dataset=dataset.label,
                    backbone=backbone.name,
                    embedding_dim=study.embedding_dims[0],
                )
