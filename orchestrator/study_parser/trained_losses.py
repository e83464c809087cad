"""How each loss of a study is trained in each block: what the rules on training are about."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from orchestrator.study.blocks import blocks
from orchestrator.study.configs import training_of, unsearched_values, with_values
from orchestrator.study.study import Block, Study
from orchestrator.study_parser.problems import Problems
from search_spaces.parameters import Value
from trainables.errors import TrialInputError
from trainables.settings.trial_settings import TrainingSettings

__all__ = ["Trained", "trained"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """One loss in one block.

    Attributes:
        loss: None where the losses of the study are not known yet: all of them.
        training: where no search says otherwise.
        values: of every hyperparameter, where no search says otherwise.
    """

    block: Block
    loss: str | None
    training: TrainingSettings
    values: dict[str, Value]


def trained(study: Study, problems: Problems) -> tuple[Trained, ...]:
    """Every loss in every block that differs in more than embedding dimension and image size.

    A data set that nothing is known of is trained on as recipes do on any other.
    """
    losses: tuple[str | None, ...] = study.losses
    if problems.concern(("losses",), ("search", "space"), ("search", "tune")):
        losses = (None,)
    return tuple(
        _trained(study, block, loss) for block in _representatives(study) for loss in losses
    )


def _trained(study: Study, block: Block, loss: str | None) -> Trained:
    training = training_of(study, block)
    values = {} if loss is None else unsearched_values(study, block, loss)
    return Trained(block=block, loss=loss, training=with_values(training, values), values=values)


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
