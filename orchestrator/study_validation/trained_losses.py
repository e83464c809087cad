"""How each loss of a study is trained in each block, for the rules on training."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from podium.orchestrator.study.configs import training_of, unsearched_values
from podium.orchestrator.study.study import Block, Study
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
    if problems.concern("losses", "search.space", "search.tune"):
        losses = (None,)
    blocks = [
        Block(dataset=dataset.label, backbone=backbone.name, embedding_dim=study.embedding_dims[0])
        for dataset in study.datasets
        for backbone in study.backbones
    ]
    return tuple(_trained(study, block, loss) for block in blocks for loss in losses)


def _trained(study: Study, block: Block, loss: str | None) -> TrainedLoss:
    training = training_of(study, block)
    values = {} if loss is None else unsearched_values(study, block, loss)
    return TrainedLoss(
        block=block, loss=loss, training=training.with_values(values), values=values
    )


def known_datasets(
    study: Study, problems: Problems
) -> Iterator[tuple[int, DatasetSettings, DatasetFacts]]:
    """Number, settings and facts of every data set that nothing is wrong with."""
    for index, dataset in enumerate(study.datasets):
        if not problems.concern(("datasets", index)):
            with suppress(TrialInputError):  # noted where data sets are checked
                yield index, dataset, dataset_facts(dataset)
