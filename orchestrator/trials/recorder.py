"""Turns an ended trial into its one row and commits it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime

import pyarrow as pa

from podium.orchestrator.results.records.journal_records import Attempt
from podium.orchestrator.results.records.metric_columns import (
    known_columns,
    known_test_columns,
    score_column,
)
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import read_store
from podium.orchestrator.results.trial_files.commit_trials import commit_trial, copy_trials
from podium.orchestrator.study.study import Study
from podium.orchestrator.trials.history import TrialHistory
from podium.orchestrator.trials.provenance import current_versions
from podium.orchestrator.trials.specification import TrialSpec
from podium.orchestrator.trials.worker_messages import Ended
from podium.trainables.settings.training_settings import HyperparameterValue
from podium.trainables.trial_reports import ClassHits, EpochReport, Score, TestReport

_SCORE_NAMES = tuple(field.name for field in fields(Score))
_END_NAMES = ("state", "cause", "message", "traceback", "log", "rung")


class TrialRecorder:
    """Commits the rows of one study's trials."""

    def __init__(self, study: Study, paths: StudyPaths) -> None:
        self._study = study
        self._paths = paths
        self._schema = read_store(paths).schema
        self._versions = current_versions()

    def commit(
        self, spec: TrialSpec, history: TrialHistory, ended: Ended, attempt: Attempt
    ) -> None:
        """Commit the row of a trial, after its last attempt; a row that is there already stays."""
        row = {
            **spec.identity_columns(self._study.name),
            **hyperparameter_columns(self._schema, spec.settings.hyperparameters),
            **{name: getattr(ended, name) for name in _END_NAMES},
            **self._score_columns(spec, history),
            **_cost_columns(history, ended, attempt),
            **self._versions,
        }
        commit_trial(self._paths, self._schema, row)

    def copy(self, search: str, specs: Sequence[TrialSpec]) -> None:
        """Commit the rows of copies of trials that the search of this id has committed."""
        copies = [spec.identity_columns(self._study.name) for spec in specs]
        copy_trials(self._paths, self._schema, search, copies)

    def _score_columns(self, spec: TrialSpec, history: TrialHistory) -> dict[str, object]:
        epochs, selected, tests = history.epochs, history.selected(), history.tests
        protocol = spec.settings.protocol
        # Images of retrievals are kept of one seed and fold of each finalist.
        keeps_retrievals = spec.stage != "search" and spec.index < 2
        keep_all_ks = {(report.fold, report.epoch) for report in selected}
        return {
            "epochs_planned": spec.settings.planned_epochs * len(spec.settings.folds),
            "epochs_run": sum(report.epoch > 0 for report in epochs),
            # Folds select epochs of their own; only one of them fits a flat column.
            "epoch_selected": selected[0].epoch if len(selected) == 1 else None,
            "selection_rule": "last_epoch" if protocol.kind == "refit" else "best_val_epoch",
            # One for each test, and one for each validation if that is on test classes.
            "test_readings": len(tests) + (len(epochs) if protocol.leaks else 0),
            "objective": history.objective(),
            **self._metric_columns(spec, history),
            "scores": [row for report in epochs for row in _score_rows(report)],
            "class_hits": [
                row
                for report in epochs
                for hits in report.class_hits
                if hits.k == self._study.ks[0] or (report.fold, report.epoch) in keep_all_ks
                for row in _class_hit_rows(report, hits)
            ],
            "test_scores": [row for report in tests for row in _score_rows(report)],
            "test_class_hits": [
                row
                for report in tests
                for hits in report.class_hits
                for row in _class_hit_rows(report, hits)
            ],
            "test_retrievals": _retrieval_rows(tests) if keeps_retrievals else [],
        }

    def _metric_columns(self, spec: TrialSpec, history: TrialHistory) -> dict[str, float | None]:
        """Flat columns; those of test classes are null in searches, which must not see them."""
        metrics, ks = known_columns(self._schema.names)
        of_validation = {
            score_column(metric, k): history.mean_score(metric, k)
            for metric in metrics
            for k in ks
        }
        is_search = spec.stage == "search"
        of_test = {
            name: None if is_search else history.mean_test_score(metric, k)
            for name, (metric, k) in known_test_columns(self._schema.names).items()
        }
        return of_validation | of_test


def hyperparameter_columns(
    schema: pa.Schema, hyperparameters: Mapping[str, HyperparameterValue]
) -> dict[str, HyperparameterValue | None]:
    """The ``hp.*`` columns of a row; None for what the trial's loss does not have.

    A column holds text where two losses use its name for a text and for a number.
    """
    values = {f"hp.{name}": value for name, value in hyperparameters.items()}
    columns: dict[str, HyperparameterValue | None] = {}
    for column in schema:
        if column.name.startswith("hp."):
            value = values.get(column.name)
            is_text = pa.types.is_string(column.type) and value is not None
            columns[column.name] = str(value) if is_text else value
    return columns


def _cost_columns(history: TrialHistory, ended: Ended, attempt: Attempt) -> dict[str, object]:
    return {
        "seconds": history.seconds,
        "test_seconds": history.test_seconds,
        "peak_memory_mb": max(
            filter(None, (history.peak_memory_mb, ended.peak_memory_mb)), default=None
        ),
        "attempts": attempt.number,
        "node": attempt.node,
        "device": attempt.device,
        "executor": "population" if attempt.members > 1 else "single",
        "started_at": attempt.started_at,
        "ended_at": datetime.now(UTC),
    }


def _score_rows(report: EpochReport | TestReport) -> Iterable[dict[str, object]]:
    identity = {"fold": report.fold, "epoch": report.epoch}
    # `dataclasses.asdict` takes much longer over thousands of plain values.
    return (identity | {it: getattr(score, it) for it in _SCORE_NAMES} for score in report.scores)


def _class_hit_rows(
    report: EpochReport | TestReport, hits: ClassHits
) -> Iterable[dict[str, object]]:
    identity = {"fold": report.fold, "epoch": report.epoch, "role": hits.role, "k": hits.k}
    return (
        {**identity, "class_id": class_id, "queries": queries, "hits": count}
        for class_id, queries, count in zip(hits.class_ids, hits.queries, hits.hits, strict=True)
    )


def _retrieval_rows(tests: Iterable[TestReport]) -> list[dict[str, object]]:
    return [
        {
            "fold": report.fold,
            **asdict(retrieval),
            "neighbours": list(map(asdict, retrieval.neighbours)),  # columns hold no tuples
        }
        for report in tests
        for retrieval in report.retrievals
    ]
