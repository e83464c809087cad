"""What a study will do, counted before anything runs. Pure: reads no data and no results."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from podium.orchestrator.planning.block_plan import BlockPlan, block_plan, missing
from podium.orchestrator.planning.image_seconds import Source, Table
from podium.orchestrator.planning.study_hours import (
    SearchPlan,
    StudyHours,
    search_plan,
    study_hours,
)
from podium.orchestrator.results.records.fairness_record import Fairness
from podium.orchestrator.study.blocks import (
    blocks,
    num_baseline_runs,
    searches,
    with_trials_per_search,
)
from podium.orchestrator.study.configs import loss_training, num_searched
from podium.orchestrator.study.fairness import fairness
from podium.orchestrator.study.study import Block, Study
from podium.trainables.dataset_interface.class_splits import validation_counts
from podium.trainables.dataset_interface.load_dataset import dataset_facts
from podium.trainables.settings.trial_settings import DatasetSettings, ProtocolSettings

# Where the standard error of Recall@1 is stated: near the largest it gets in practice.
_RECALL = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetPlan:
    """What one data set offers to one protocol of the searches.

    Attributes:
        leaks: whether configs are validated on the test classes.
        draws_splits: whether each config has a split of its own.
        train_classes: number of classes to train on, without validation classes.
        val_classes: number of classes of one validation fold.
        test_classes: number of classes the finals are tested on.
        folds: number of folds that a config of the search is validated on.
        val_queries: validation images of one fold, were classes equally large.
        standard_error: standard error of a validation Recall@1 of 80 %, were the queries
            independent; None where images are not retrieved by class.
    """

    dataset: str
    protocol: str
    leaks: bool
    draws_splits: bool
    description: str
    train_classes: int
    val_classes: int
    test_classes: int
    folds: int
    val_queries: int
    standard_error: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """All counts of a study.

    Attributes:
        study: the study, each of its searches with the trials that its budget leaves it.
        datasets: one plan for each data set and protocol.
        stages: ``search``, ``final``, ``baseline`` -> trials, and epochs if none is stopped early.
        missing: sentences on what is needed before the run and not on this machine.
        hours: hours of all trials; None if it is not known what images take.
        wanted_trials: ``search.trials`` of the study file, of which a budget may leave fewer.
    """

    study: Study
    blocks: tuple[Block, ...]
    trainings: tuple[BlockPlan, ...]
    searches: tuple[SearchPlan, ...]
    datasets: tuple[DatasetPlan, ...]
    stages: Mapping[str, tuple[int, int]]
    fairness: Fairness
    missing: tuple[str, ...]
    hours: StudyHours | None
    wanted_trials: int

    @property
    def trials(self) -> int:
        """Number of trials of all stages."""
        return sum(trials for trials, _ in self.stages.values())

    @property
    def epochs(self) -> int:
        """Number of epochs of all stages, if no trial is stopped early."""
        return sum(epochs for _, epochs in self.stages.values())


def plan(study: Study, known: Mapping[Source, Table] = MappingProxyType({})) -> StudyPlan:
    """Count what ``study`` will do, by what is known of the seconds of an image, best first."""
    wanted_trials, study = study.search.trials, with_trials_per_search(study)
    crossed = blocks(study)
    # Resolving a loss's training takes a while, and protocols and repeats share it.
    sizes = {
        (block, loss): (num_searched(study, loss), loss_training(study, block, loss).epochs)
        for block in crossed
        for loss in study.loss_names
    }
    searched = tuple(
        search_plan(study, search, *sizes[search.block, search.loss]) for search in searches(study)
    )
    return StudyPlan(
        study=study,
        blocks=crossed,
        trainings=tuple(block_plan(study, block) for block in crossed),
        searches=searched,
        datasets=tuple(
            _dataset_plan(dataset, protocol)
            for dataset in study.datasets
            for protocol in study.protocols
        ),
        stages=_stages(study, searched),
        fairness=fairness(study),
        missing=missing(study),
        hours=study_hours(study, searched, known),
        wanted_trials=wanted_trials,
    )


def _stages(study: Study, searched: tuple[SearchPlan, ...]) -> dict[str, tuple[int, int]]:
    search_trials = sum(item.search_trials for item in searched)
    final_trials = sum(item.final_trials for item in searched)
    epochs = sum(item.epochs for item in searched)
    final_epochs = sum(item.final_epochs for item in searched)
    baseline = sum(num_baseline_runs(study, block) for block in blocks(study))
    return {
        "search": (search_trials, epochs - final_epochs),
        "final": (final_trials, final_epochs),
        "baseline": (baseline, 0),
    }


def _dataset_plan(dataset: DatasetSettings, protocol: ProtocolSettings) -> DatasetPlan:
    facts = dataset_facts(dataset)
    num_held_out = min(validation_counts(facts.num_train_classes, protocol))
    num_val = num_held_out
    num_queries = round(facts.num_train_images / facts.num_train_classes * num_val)
    if protocol.leaks:
        num_val, num_queries = facts.num_test_classes, facts.num_images - facts.num_train_images
    binomial = math.sqrt(_RECALL * (1 - _RECALL) / num_queries)
    return DatasetPlan(
        dataset=dataset.label,
        protocol=protocol.label,
        leaks=protocol.leaks,
        draws_splits=protocol.kind == "random_splits",
        description=facts.description,
        train_classes=facts.num_train_classes - num_held_out,
        val_classes=num_val,
        test_classes=facts.num_test_classes,
        folds=protocol.num_folds,
        val_queries=num_queries,
        standard_error=binomial if facts.task == "classes" else None,
    )
