"""Specifications of trials: everything about a trial that is known before it starts."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from podium.orchestrator.ids_and_seeds import config_hash, copy_id
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.study.resource_demand import Demand
from podium.orchestrator.study.study import KeepSettings, Search, TrainOn
from podium.trainables.own_files import files_of
from podium.trainables.settings.population_agreement import agreement
from podium.trainables.settings.training_settings import HyperparameterValue
from podium.trainables.settings.trial_settings import TrialSettings
from podium.trainables.trial_reports import Report, TestReport

Config = Mapping[str, HyperparameterValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialJob:
    """What a worker needs to run one attempt at a trial.

    Attributes:
        attempt: number of the attempt, from 1.
        paths: results folder of the study, absolute or a URI.
        demand: CPUs and GPUs it occupies.
        population: what it shares with the trials that it can be trained together with; None for a
            trial that runs alone.
        checkpoint_minutes: how old its checkpoint may become before it is replaced.
        rungs: epochs trained, over all folds, after which the scheduler compares it with others.
        gather_seconds: how long epochs between two rungs are gathered before they are reported,
            by workers of which a message costs the scheduler as much as some epochs take.
        keeps_log: whether its log file is kept whatever becomes of it.
        own_files: name -> bytes of the files of its loss and transform (`trainables.own_files`).
    """

    trial_id: str
    search: str
    attempt: int
    paths: StudyPaths
    settings: TrialSettings
    demand: Demand
    population: str | None = None
    checkpoint_minutes: float = 0.0
    rungs: frozenset[int] = frozenset()
    gather_seconds: float = 0.0
    keeps_model: bool = False
    keeps_embeddings: bool = False
    keeps_log: bool = True
    own_files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def _epochs(self) -> int:
        """Number of epochs on each fold."""
        return self.settings.planned_epochs

    def is_at_rung(self, report: Report) -> bool:
        """Whether the scheduler compares the trial with others after a report."""
        if isinstance(report, TestReport) or not self.rungs:
            return False
        folds_before = self.settings.folds.index(report.fold)
        return self._epochs * folds_before + report.epoch in self.rungs

    def is_at_end(self, report: Report) -> bool:
        """Whether nothing is left to decide after a report: the trial is tested next, or ends."""
        if isinstance(report, TestReport):
            return True
        return report.epoch >= self._epochs and report.fold == self.settings.folds[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finalist:
    """A config of the final stage; the winner may be the published default itself.

    Attributes:
        is_default: whether it is the published default.
        is_winner: whether it is the best of its search.
        selected_epoch: best epoch of its search trial, the rounded mean over folds; None if that
            trial never got to one.
    """

    config: Config
    is_default: bool
    is_winner: bool
    selected_epoch: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSpec:
    """One trial with its place in the study; fills the identity columns of its row.

    Attributes:
        index: position within its search and stage, from 0; of search trials the suggestion.
        seed_index: position of its seed among those of its stage, from 0.
        selected_from: number of search trials its config was selected from; None but for finals.
        train_on: ``part`` or ``all`` for finals, as in `FinalSettings`; None in other stages.
        leaks: whether test classes chose its epoch or its config.
        copy_of: id of the trial of another search that is the same training, if there is one; a
            copy is never run.
        split_hash: hashes of the splits of its folds, by which rows show that they saw the same;
            so the others.
        protocol_hash: hash of the protocol on the training classes.
        test_hash: hash of the test images.
        data_hash: hash of all images and labels.
        weights: fingerprint of the weights that the backbone starts from.
    """

    trial_id: str
    stage: Literal["search", "final", "baseline"]
    search: Search
    index: int
    settings: TrialSettings
    split_hash: str
    protocol_hash: str
    test_hash: str
    data_hash: str
    weights: str
    seed_index: int = 0
    is_default: bool = False
    is_winner: bool = False
    selected_from: int | None = None
    train_on: TrainOn | None = None
    leaks: bool = False
    copy_of: str | None = None

    def job(self, paths: StudyPaths, attempt: int, keep: KeepSettings, demand: Demand) -> TrialJob:
        """The job that a worker gets. Only tested trials keep models or embeddings."""
        return TrialJob(
            trial_id=self.trial_id,
            search=self.search.id,
            attempt=attempt,
            paths=paths,
            settings=self.settings,
            demand=demand,
            population=agreement(self.settings) if demand.is_member else None,
            keeps_model=keep.models and self.stage == "final",
            keeps_embeddings=keep.embeddings and self.stage != "search",
            own_files=files_of(self.settings.loss) | files_of(self.settings.training.transform),
        )

    def copy(self) -> "TrialSpec":
        """A copy of the results of another search's trial, under an id of this search."""
        copied = copy_id(self.trial_id, self.search.id)
        return replace(self, trial_id=copied, copy_of=self.trial_id)

    def identity_columns(self, study: str) -> dict[str, object]:
        """The identity columns of the trial's row, in no particular order."""
        settings, search = self.settings, self.search
        return {
            "study": study,
            "trial_id": self.trial_id,
            "search": search.id,
            "stage": self.stage,
            "index": self.index,
            "config_hash": config_hash(settings.hyperparameters),
            "is_default": self.is_default,
            "is_winner": self.is_winner,
            "selected_from": self.selected_from,
            "block": search.block.label,
            "dataset": search.block.dataset,
            "backbone": search.block.backbone,
            "weights": self.weights,
            "embedding_dim": search.block.embedding_dim,
            "image_size": search.block.image_size,
            "loss": search.loss,
            "protocol": search.protocol,
            "split_protocol": settings.protocol.kind,
            "train_on": self.train_on,
            "repeat": search.repeat,
            "fold": settings.folds[0] if len(settings.folds) == 1 else None,
            "num_folds": settings.protocol.num_folds,
            "seed": settings.seed,
            "seed_index": self.seed_index,
            "leaks": self.leaks,
            "same_as": self.copy_of,
            "split_hash": self.split_hash,
            "protocol_hash": self.protocol_hash,
            "test_hash": self.test_hash,
            "data_hash": self.data_hash,
            "settings": json.dumps(settings.to_dict(), sort_keys=True),
        }
