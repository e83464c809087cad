"""What searches train, and the hours of a study: its images, times what an image takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from podium.orchestrator.planning.image_seconds import Source, Table, kind_of, seconds_of
from podium.orchestrator.study.blocks import (
    SECONDS_PER_HOUR,
    dataset_of,
    most_finals,
    num_baseline_runs,
    protocol_of,
)
from podium.orchestrator.study.resource_demand import demand_of
from podium.orchestrator.study.study import Block, Search, Study
from podium.trainables.dataset_interface.class_splits import validation_counts
from podium.trainables.dataset_interface.load_dataset import dataset_facts
from podium.trainables.settings.frozen_feature_rules import FROZEN_FEATURES
from podium.trainables.settings.trial_settings import ProtocolSettings

_EMBEDDED = 1 / 3  # of a trained image; a backward pass takes twice as long as a forward pass


def images_of(
    study: Study, block: Block, protocol: ProtocolSettings
) -> tuple[float, float, float]:
    """Trained images that parts of a trial are worth, on a fold of average size.

    Returns:
        Those of an epoch, of a test, and of all images once through the network.

    Raises:
        TrialInputError: the protocol does not fit the classes.
    """
    facts = dataset_facts(dataset_of(study, block))
    counts = validation_counts(facts.num_train_classes, protocol)
    held_out = sum(counts) / len(counts) / facts.num_train_classes * facts.num_train_images
    tested = facts.num_images - facts.num_train_images
    validated = tested if protocol.leaks else held_out
    of_epoch = facts.num_train_images - held_out + validated * _EMBEDDED
    return of_epoch, tested * _EMBEDDED, facts.num_images * _EMBEDDED


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """What one search and its final stage will train.

    Attributes:
        dimensions: number of searched hyperparameters.
        search_trials: number of configs that are trained, fewer only in an exhausted space.
        final_trials: largest number of finals; half if the published default wins its search of
            several trials.
        epochs: epochs of both stages together, if no trial is stopped early.
        final_epochs: epochs of the final stage alone.
    """

    search: Search
    dimensions: int
    search_trials: int
    final_trials: int
    epochs: int
    final_epochs: int


def search_plan(study: Study, search: Search, dimensions: int, epochs: int) -> SearchPlan:
    """Count the trials and epochs of a search; ``epochs`` are those of a final trial."""
    search_trials, final_trials = study.search.trials, most_finals(study, search)
    num_folds = protocol_of(study, search).num_folds
    return SearchPlan(
        search=search,
        dimensions=dimensions,
        search_trials=search_trials,
        final_trials=final_trials,
        epochs=search_trials * num_folds * (study.search.epochs or epochs) + final_trials * epochs,
        final_epochs=final_trials * epochs,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyHours:
    """Hours of all planned trials, if none is stopped early and no default wins its search.

    Attributes:
        slot: hours on one worker slot, where trials run one after the other.
        gpu: GPU-hours; 0 if trials occupy no GPU.
        sources: whose figures they are by, each once.
    """

    slot: float
    gpu: float
    sources: tuple[Source, ...]


def study_hours(
    study: Study, searches: Sequence[SearchPlan], known: Mapping[Source, Table]
) -> StudyHours | None:
    """Count the images of a study; None if nothing is known of how one of its blocks is trained.

    There is a plan for each of its searches; the best known source of seconds is first.
    """
    slot = gpu = 0.0
    sources: dict[Source, None] = {}
    counted: set[object] = set()  # blocks, and networks whose features are computed once
    for item in searches:
        block, protocol = item.search.block, protocol_of(study, item.search)
        of_epoch, of_test, of_all = images_of(study, block, protocol)
        kind = kind_of(study, block)
        found = seconds_of(kind, known)
        if found is None:
            return None
        of_image, source = found
        sources[source] = None
        tests = item.search_trials * protocol.num_folds if study.tests_searches else 0
        tests += item.final_trials
        if block not in counted:
            tests += num_baseline_runs(study, block)
        seconds = (item.epochs * of_epoch + tests * of_test) * of_image
        features = (block.dataset, block.backbone, kind.side)
        if kind.mode == FROZEN_FEATURES and features not in counted:
            of_network, _ = seconds_of(kind._replace(mode="fine_tune"), known) or (0.0, source)
            seconds += of_all * of_network
        counted |= {block, features}
        slot += seconds / SECONDS_PER_HOUR
        gpu += seconds / SECONDS_PER_HOUR * demand_of(study).gpus
    return StudyHours(slot=slot, gpu=gpu, sources=tuple(sources))
