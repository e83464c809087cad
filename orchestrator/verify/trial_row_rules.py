"""Checks one row of the store against itself: all values that follow from others."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from orchestrator.ids_and_seeds import config_hash, copy_id
from orchestrator.results.records.metric_columns import (
    known_columns,
    known_test_columns,
    score_column,
)
from orchestrator.trials.failure_causes import FAILURE_CAUSES
from orchestrator.trials.history import selected_epochs
from orchestrator.trials.recorder import LAST_EPOCH, SELECTION_RULE, hyperparameter_columns
from trainables.settings.trial_settings import TrialSettings

_STATES = ("COMPLETE", "PRUNED", "FAILED")
_STAGES = ("search", "final", "baseline")
# Metrics in [0, 1].
_SHARES = (
    *("recall", "ndcg", "r_precision", "map_at_r", "nmi", "f1"),
    *("verification_accuracy", "verification_accuracy_se", "eer", "verification_auc"),
    "tar_at_far",
)
# Shares of which hits and queries are stored.
_COUNTED = ("recall", "tar_at_far")
_TOLERANCE = 1e-9

RuleViolation = tuple[str, object]
"""A rule that does not hold, and the value that violates it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowRules:
    """The rules for every row of a study.

    Attributes:
        schema: columns of a row, with one for every hyperparameter.
        objective: name of the validation metric that searches maximise.
        primary_k: the K at which it is read.
        tests_searches: whether search trials are tested, and the scores recorded.
    """

    schema: pa.Schema
    objective: str
    primary_k: int
    tests_searches: bool

    def violations(self, row: Mapping[str, Any]) -> Iterator[RuleViolation]:
        """Every rule that a row violates.

        Args:
            row: all columns as plain values; hits by class and images may be missing.
        """
        settings = settings_of(row["settings"])
        if settings is None:
            yield "settings must be JSON of a trial", repr(row["settings"])[:80]
            return
        yield from _identity(row, settings, self.schema)
        yield from _state(row)
        yield from self._scores(row, settings)
        yield from _values(row)
        yield from self._tests(row, settings)

    def _scores(self, row: Mapping[str, Any], settings: TrialSettings) -> Iterator[RuleViolation]:
        """Columns of the whole trial must follow from its scores."""
        found = _selected(row["scores"], self.objective, self.primary_k)
        value = (
            None if found is None else _mean(row["scores"], found, self.objective, self.primary_k)
        )
        if row["objective"] != value:
            yield f"objective must be {value}, recomputed from scores", row["objective"]
        if row["state"] == "COMPLETE" and settings.protocol.is_validated and value is None:
            yield "a COMPLETE trial that was validated must have an objective", None
        metrics, ks = known_columns(row)
        for metric in metrics:
            for k in ks:
                expected = None if found is None else _mean(row["scores"], found, metric, k)
                if row[score_column(metric, k)] != expected:
                    name = score_column(metric, k)
                    yield f"{name} must be {expected}, recomputed from scores", row[name]
        yield from _epochs(row, settings, found)

    def _tests(self, row: Mapping[str, Any], settings: TrialSettings) -> Iterator[RuleViolation]:
        """Which trials are tested, and how often test classes were read."""
        yield from _flat_tests(row)
        tested = {score["fold"] for score in row["test_scores"]}
        if row["stage"] == "search" and tested and not self.tests_searches:
            yield "a trial of a search must have no test scores", f"of folds {sorted(tested)}"
        if tested - set(settings.folds):
            yield f"tests must be of the folds {settings.folds}", sorted(tested)
        if row["same_as"] is not None:
            if row["test_readings"] != 0:
                yield "a copy reads no test classes: test_readings must be 0", row["test_readings"]
            return
        is_done = row["state"] == "COMPLETE" and row["stage"] != "search"
        if is_done and settings.evaluate_test and tested != set(settings.folds):
            yield (
                f"a COMPLETE {row['stage']} trial must be tested on all its folds",
                sorted(tested),
            )
        seen = {(score["fold"], score["epoch"]) for score in row["scores"]}
        readings = len(tested) + (len(seen) if settings.protocol.leaks else 0)
        is_quarantined = row["stage"] == "search" and settings.evaluate_test
        # A test in quarantine whose embeddings collapsed was a reading without scores.
        extra = row["test_readings"] - readings
        if not 0 <= extra <= (len(settings.folds) if is_quarantined else 0):
            yield (
                f"test_readings must be {readings}, counted from its scores",
                row["test_readings"],
            )


def settings_of(text: str) -> TrialSettings | None:
    """The settings that a row holds in JSON; None if they are invalid."""
    try:
        return TrialSettings.from_dict(json.loads(text))
    except (TypeError, ValueError, KeyError, AttributeError):
        return None


def _identity(
    row: Mapping[str, Any], settings: TrialSettings, schema: pa.Schema
) -> Iterator[RuleViolation]:
    folds = settings.folds
    expected: dict[str, object] = {
        "config_hash": config_hash(settings.hyperparameters),
        "loss": settings.loss,
        "backbone": settings.backbone.name,
        "dataset": settings.dataset.label,
        "embedding_dim": settings.embedding_dim,
        "image_size": settings.image_size,
        "seed": settings.seed,
        "split_protocol": settings.protocol.kind,
        "num_folds": settings.protocol.num_folds,
        "fold": folds[0] if len(folds) == 1 else None,
        **hyperparameter_columns(schema, settings.hyperparameters),
    }
    if row["same_as"] is not None:
        expected["trial_id"] = copy_id(row["same_as"], row["search"])
    for name, value in expected.items():
        if row[name] != value:
            yield f"{name} must be {value!r}, by the settings of the trial", repr(row[name])
    if row["stage"] not in _STAGES:
        yield f"stage must be one of {', '.join(_STAGES)}", repr(row["stage"])
    if (row["selected_from"] is None) == (row["stage"] == "final"):
        yield (
            "selected_from must be set in the final stage, and only there",
            row["selected_from"],
        )
    if len(row["split_hash"].split("+")) != len(folds):
        yield f"split_hash must have a part for each of the folds {folds}", row["split_hash"]


def _state(row: Mapping[str, Any]) -> Iterator[RuleViolation]:
    state, cause, rung = row["state"], row["cause"], row["rung"]
    if state not in _STATES:
        yield f"state must be one of {', '.join(_STATES)}", repr(state)
    if (cause is None) == (state == "FAILED"):
        yield "FAILED trials, and no others, must have a cause", repr(cause)
    if state == "FAILED" and cause is not None and cause not in FAILURE_CAUSES:
        yield f"a cause must be one of {', '.join(sorted(FAILURE_CAUSES))}", repr(cause)
    if state != "FAILED" and (row["message"] or row["traceback"]):
        yield "only a FAILED trial has a message and a traceback", repr(row["message"])
    if (rung is None) == (state == "PRUNED"):
        yield "PRUNED trials, and no others, must have a rung", rung
    if state == "PRUNED" and row["stage"] != "search":
        yield "only trials of a search are PRUNED", row["stage"]


def _epochs(
    row: Mapping[str, Any], settings: TrialSettings, found: Mapping[int, int] | None
) -> Iterator[RuleViolation]:
    rule = SELECTION_RULE if settings.protocol.is_validated else LAST_EPOCH
    if row["selection_rule"] != rule:
        yield f"selection_rule must be {rule!r}", repr(row["selection_rule"])
    trained = {(score["fold"], score["epoch"]) for score in row["scores"] if score["epoch"] > 0}
    if row["epochs_run"] != len(trained):
        yield f"epochs_run must be {len(trained)}, counted from scores", row["epochs_run"]
    if row["epochs_run"] > row["epochs_planned"]:
        yield f"no more epochs than the {row['epochs_planned']} planned", row["epochs_run"]
    if row["state"] == "COMPLETE" and row["epochs_run"] != row["epochs_planned"]:
        yield f"a COMPLETE trial must have its {row['epochs_planned']} epochs", row["epochs_run"]
    selected = row["epoch_selected"]
    if found is not None and len(found) == 1 and selected != next(iter(found.values())):
        yield f"epoch_selected must be {next(iter(found.values()))}, by its scores", selected


def _values(row: Mapping[str, Any]) -> Iterator[RuleViolation]:
    """Shares are between 0 and 1 and fit their counts; nothing is NaN or infinite."""
    for name, value in row.items():
        if isinstance(value, float) and not math.isfinite(value):
            yield f"{name} must be a finite number", value
    for score in (*row["scores"], *row["test_scores"]):
        value, metric = score["value"], score["metric"]
        where = f"{score['role']} {metric} at {score['k']} of epoch {score['epoch']}"
        if value is None:
            continue
        if not math.isfinite(value):
            yield f"{where} must be a finite number", value
        elif metric in _SHARES and not 0 <= value <= 1:
            yield f"{where} must be between 0 and 1", value
        elif metric in _COUNTED and score["hits"] is not None and score["queries"]:
            expected = score["hits"] / score["queries"]
            if abs(value - expected) > _TOLERANCE:
                yield f"{where} must be {score['hits']} / {score['queries']}", value


def _flat_tests(row: Mapping[str, Any]) -> Iterator[RuleViolation]:
    """Flat test columns follow from the test scores; searches have none, quarantined or not."""
    for name, key in known_test_columns(row).items():
        values = [
            score["value"]
            for score in row["test_scores"]
            if (score["metric"], score["k"]) == key and score["value"] is not None
        ]
        found, is_known = row[name], bool(values) and row["stage"] != "search"
        expected = math.fsum(values) / len(values) if is_known else None
        if found is None or expected is None:
            is_right = found is expected
        else:
            is_right = abs(found - expected) <= _TOLERANCE
        if not is_right:
            yield f"{name} must be {expected}, recomputed from test_scores", found


def _selected(
    scores: Sequence[Mapping[str, Any]], metric: str, k: int
) -> Mapping[int, int] | None:
    """The selected epoch of each fold; None where nothing was validated."""
    triples = [
        (score["fold"], score["epoch"], score["value"])
        for score in scores
        if (score["role"], score["metric"], score["k"]) == ("val", metric, k)
    ]
    return selected_epochs(triples) if triples else None


def _mean(
    scores: Sequence[Mapping[str, Any]], selected: Mapping[int, int], metric: str, k: int
) -> float | None:
    """Mean of a validation metric over folds, at their selected epochs; None without any."""
    values = {
        score["fold"]: score["value"]
        for score in scores
        if (score["role"], score["metric"], score["k"]) == ("val", metric, k)
        and selected.get(score["fold"]) == score["epoch"]
    }
    known = [values[fold] for fold in sorted(values)]
    return sum(known) / len(known) if known else None
