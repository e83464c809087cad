"""Checks the trials of a study against each other, and against their study."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import polars as pl

from orchestrator.results.records.asks import Ask, file_of_ask
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.study.blocks import searches
from orchestrator.study.budget import with_trials_per_search
from orchestrator.verify.findings import Findings
from orchestrator.verify.stored_study import StoredStudy
from orchestrator.verify.stored_trials import StoredTrial, StoredTrials

# (column, columns within whose groups it must be equal, message)
_SAME_WITHIN: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("test_hash", ("block",), "the trials of a block must have one set of test images"),
    ("weights", ("backbone",), "the trials of a backbone must start from the same weights"),
    (
        "protocol_hash",
        ("block", "stage", "protocol", "repeat", "train_on"),
        "what is compared must be trained and validated on the same classes",
    ),
)


def check_groups(trials: StoredTrials, findings: Findings) -> None:
    """What trials that are compared must have in common."""
    for column, within, rule in _SAME_WITHIN:
        groups: dict[tuple[Any, ...], dict[Any, StoredTrial]] = defaultdict(dict)
        for trial in trials.first_of([*within, column]):
            group = tuple(trial.row[name] for name in within)
            groups[group].setdefault(trial.row[column], trial)
        for group, values in groups.items():
            if len(values) > 1:
                found = ", ".join(
                    f"{value} in trial {trial.row['trial_id']}" for value, trial in values.items()
                )
                where = " ".join(str(part) for part in group if part is not None)
                last = list(values.values())[-1]
                findings.problem(last.file, f"{where}: {rule} ({column})", found)


def check_lost_rows(stored: StoredStudy, findings: Findings) -> None:
    """Runs count a trial once its row is committed, so there are at least as many rows.

    Failures may be withdrawn, so they are left out. Rows of a file
    that cannot be read were reported with it.
    """
    if findings.problems:
        return
    if len(stored.trials) and not stored.runs:
        rule = "holds no account of a run, while there are trials"
        findings.problem(stored.paths.runs, rule, None, "Restore the folder from a copy")
    counted = sum(
        spent.tries
        for run in stored.runs
        for spent in run.spent
        if spent.use in ("complete", "pruned")
    )
    if counted > len(stored.trials):
        findings.problem(
            stored.paths.trials,
            f"must hold the {counted} trials that runs completed: the folder was copied in part,"
            " or rows were lost",
            len(stored.trials),
            "Copy the folder again, or restore the rows from a copy",
        )


def check_copies(stored: StoredStudy, findings: Findings) -> None:
    """Copies must have the results of their original."""
    trials = stored.trials
    for trial in trials.where(pl.col("same_as").is_not_null()):
        trial_id, same_as = trial.row["trial_id"], trial.row["same_as"]
        original = trials.get(same_as)
        findings.checked["copies"] += 1
        if original is None:
            findings.problem(
                trial.file, f"trial {trial_id} is a copy of a trial that has no row", same_as
            )
        elif original.results != trial.results:
            findings.problem(
                trial.file,
                f"trial {trial_id} must have the results of the one it is a copy of",
                same_as,
            )


def check_searches(stored: StoredStudy, findings: Findings) -> None:
    """Check every search against its asks, its budget and its finals."""
    trials, asks, paths = stored.trials, stored.asks, stored.paths
    planned, most = {search.id for search in searches(stored.study)}, _most_trials(stored)
    without_rows = ((search, list[StoredTrial]()) for search in _searches_without(trials, asks))
    for search, rows in chain(trials.by_search(), without_rows):  # one search at a time in memory
        of_search = asks.get(search, [])
        stages = {trial.row["stage"] for trial in rows}
        if search not in planned:
            if stages != {"baseline"}:
                findings.problem(paths.folder, "study.yaml must plan every search", search)
            continue
        findings.checked["searches"] += 1
        _check_asks(search, rows, of_search, paths, findings)
        distinct = list(dict.fromkeys(ask.trial_id for ask in of_search))
        if len(distinct) > most:
            rule = f"no search may have more trials than its {most}"
            findings.problem(paths.asks / search, rule, len(distinct))
        by_id = {trial.row["trial_id"]: trial for trial in rows}
        finals = [trial for trial in rows if trial.row["stage"] == "final"]
        for trial in finals:
            for rule, value in _final(trial, of_search, distinct, by_id, stored.retried):
                findings.problem(trial.file, f"trial {trial.row['trial_id']}: {rule}", value)


def _searches_without(trials: StoredTrials, asks: Collection[str]) -> list[str]:
    """Searches with asks and without rows."""
    return sorted(set(asks) - set(trials.frame["search"].unique()))


def _most_trials(stored: StoredStudy) -> int:
    """Most trials that each search may have had, under any run's budget."""
    now = with_trials_per_search(stored.study).search.trials
    return max([now, *(run.trials_per_search for run in stored.runs)])


def _check_asks(
    search: str,
    rows: Sequence[StoredTrial],
    of_search: Sequence[Ask],
    paths: StudyPaths,
    findings: Findings,
) -> None:
    """Every trial of a search was suggested, and its row has the index of its first ask."""
    first: dict[str, Ask] = {}
    for ask in of_search:
        first.setdefault(ask.trial_id, ask)
    for trial in rows:
        if trial.row["stage"] != "search":
            continue
        trial_id, index = trial.row["trial_id"], trial.row["index"]
        found = first.get(trial_id)
        if found is None:
            findings.problem(
                file_of_ask(paths, search, index),
                f"trial {trial_id} has a row and must have its ask",
                "missing, or another's",
                "Restore the file from a copy",
            )
            continue
        expected = {
            "index": found.index,
            "config_hash": found.config_hash,
            "is_default": found.index == 0,
        }
        for name, value in expected.items():
            if trial.row[name] != value:
                findings.problem(
                    trial.file,
                    f"trial {trial_id}: {name} must be {value!r}, by its ask",
                    repr(trial.row[name]),
                )


def _final(
    trial: StoredTrial,
    of_search: Sequence[Ask],
    distinct: Sequence[str],
    trials: Mapping[str, StoredTrial],
    retried: Collection[str],
) -> Iterator[tuple[str, object]]:
    """Finals are of the default, or of the best of the trials that they were selected from.

    A trial that was retried may have been a failure when they were selected.
    """
    row, by_id = trial.row, {ask.trial_id: ask for ask in reversed(of_search)}
    if not row["is_default"] and not row["is_winner"]:
        yield "a final must be of the default or of the winner", "neither"
    if row["is_default"] and (not of_search or row["config_hash"] != of_search[0].config_hash):
        yield "its config must be that of ask 0", row["config_hash"]
    rivals = distinct[: row["selected_from"]]
    if len(rivals) < row["selected_from"]:
        yield (
            f"its search must have the {row['selected_from']} trials it was selected from",
            len(rivals),
        )
    missing = [name for name in rivals if name not in trials and name not in retried]
    if missing:
        yield "the trials that it was selected from must have rows; there is none of", missing[0]
    elif row["is_winner"]:
        complete = [
            (trials[trial_id].row["objective"], -number, by_id[trial_id].config_hash)
            for number, trial_id in enumerate(rivals)
            if trial_id in trials
            and trials[trial_id].row["state"] == "COMPLETE"
            and trials[trial_id].row["objective"] is not None
            and (trial_id not in retried or by_id[trial_id].config_hash == row["config_hash"])
        ]
        best = max(complete)[2] if complete else None
        if best != row["config_hash"]:
            yield f"the winner of its search is config {best}", row["config_hash"]
