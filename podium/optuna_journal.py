"""The searches of a results folder as a journal of Optuna, for optuna-dashboard and its like.

The journal is derived: podium never reads results from it. Trials are in the order of their
commits, so their numbers in the journal are not their numbers in the search, which are attributes.

Only the flat columns and the validation scores of the search stage are read: no test score can get
into a journal.
"""

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import optuna
import polars as pl
from optuna.storages import JournalStorage
from optuna.storages.journal import BaseJournalBackend, JournalFileBackend
from polars import selectors

from podium.errors import PodiumError
from podium.orchestrator.results.records.metric_columns import (
    HYPERPARAMETER,
    hyperparameters_of,
    metric_label,
)
from podium.orchestrator.results.storage.local_files import store_errors
from podium.orchestrator.results.storage.locations import Place, temporary_name
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.search_samplers.optuna_study import OPTUNA_STATES, distribution_of
from podium.orchestrator.search_samplers.unit_cube import is_inside
from podium.orchestrator.study.blocks import searches, trials_per_search
from podium.orchestrator.study.configs import space_of, unsearched_values
from podium.orchestrator.study.resolved_study import study_from_resolved
from podium.orchestrator.study.study import Search, Study
from podium.search_spaces.parameters import Choice, Int, Real

# Columns that become attributes of a trial, under their own names.
_ATTRIBUTES = (
    *("trial_id", "config_hash", "index", "loss", "block", "protocol", "repeat", "is_default"),
    *("leaks", "cause", "epochs_run", "epoch_selected", "training_seconds"),
)


class _Collected(BaseJournalBackend):
    """Operations in memory: Optuna's own backend syncs the disk with every one."""

    def __init__(self) -> None:
        self.logs: list[dict[str, Any]] = []

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        """Part of the interface of Optuna's backends."""
        yield from self.logs[log_number_from:]

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Part of the interface of Optuna's backends."""
        self.logs += logs


def write_searches(folder: Place, journal: Path) -> int:
    """Write every search and every ended search trial as a new journal: number of trials.

    Args:
        folder: the results folder.
        journal: file of the journal, which is not there; its folder must exist.

    Raises:
        PodiumError: ``folder`` is not a results folder, or the journal cannot be a new file.
        CorruptFileError: the results are damaged.
        StoreError: they cannot be read, or the journal not be written.
    """
    reader = Reader(folder)
    study = study_from_resolved(reader.study())
    if journal.exists() or not journal.parent.is_dir():
        raise PodiumError(f"--output needs a new file in a folder that exists; got {journal}")
    rows, planned = _rows(reader, study.ks[0]), searches(study)
    collected, metric = _Collected(), metric_label(reader.objective, study.ks[0])
    storage = JournalStorage(collected)
    for search in planned:
        space = space_of(study, search.loss, unsearched_values(study, search.block, search.loss))
        of_search = rows.filter(pl.col("search") == search.id).iter_rows(named=True)
        made = _study_of(storage, study, search, metric)
        made.add_trials(_trial(row, space.parameters) for row in of_search)
    for search_id in set(rows["search"]) - {search.id for search in planned}:
        raise PodiumError(f"study.json has no search {search_id}, but there are trials")
    with store_errors("write", journal):
        unfinished = journal.with_name(temporary_name(journal.name))
        JournalFileBackend(str(unfinished)).append_logs(collected.logs)
        unfinished.replace(journal)
    return rows.height


def _study_of(storage: JournalStorage, study: Study, search: Search, metric: str) -> optuna.Study:
    """A new study of Optuna for a search."""
    name = f"{study.name}/{search.id}"
    made = optuna.create_study(storage=storage, study_name=name, direction="maximize")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        made.set_metric_names([f"validation {metric}"])
    attributes = {
        "loss": search.loss,
        "block": search.block.label,
        "protocol": search.protocol,
        "repeat": search.repeat,
        "sampler": study.search.sampler,
        "trials_planned": trials_per_search(study),
    }
    for key, value in attributes.items():
        made.set_user_attr(key, value)
    return made


def _rows(reader: Reader, k: int) -> pl.DataFrame:
    """Search trials in the order of their commits, with the validation score of each epoch."""
    objective = pl.col("metric") == reader.objective
    curves = (
        reader.scores()
        .filter(pl.col("stage") == "search", pl.col("role") == "val", objective, pl.col("k") == k)
        .group_by("trial_id", "epoch")
        .agg(pl.col("value").mean())
        .sort("epoch")
        .group_by("trial_id")
        .agg(pl.struct("epoch", "value").alias("curve"))
    )
    return (
        reader.trials()
        .filter(pl.col("stage") == "search")
        .with_columns((pl.col("seconds") - pl.col("test_seconds")).alias("training_seconds"))
        .select(
            *("search", "state", "objective", "started_at", "ended_at"),
            *_ATTRIBUTES,
            selectors.starts_with(HYPERPARAMETER),
        )
        .join(curves, on="trial_id", how="left")
        .sort("ended_at", "index", "trial_id")
        .collect()
    )


def _trial(
    row: Mapping[str, Any], space: Mapping[str, Real | Int | Choice]
) -> optuna.trial.FrozenTrial:
    """A row as a trial of Optuna, with the values that a search reports to its sampler."""
    config = hyperparameters_of(row)
    own = {
        name: distribution_of(it)
        for name, it in space.items()
        if name in config and is_inside(it, config[name])
    }
    others = {name: value for name, value in config.items() if name not in own}
    attributes = {**{name: row[name] for name in _ATTRIBUTES}, "not_in_space": others or None}
    trial = optuna.trial.create_trial(
        state=OPTUNA_STATES[row["state"]],
        value=row["objective"] if row["state"] in ("COMPLETE", "PRUNED") else None,
        params={
            name: it.to_external_repr(it.to_internal_repr(config[name]))
            for name, it in own.items()
        },
        distributions=own,
        user_attrs={name: value for name, value in attributes.items() if value is not None},
        intermediate_values={point["epoch"]: point["value"] for point in row["curve"] or ()},
    )
    trial.datetime_start, trial.datetime_complete = row["started_at"], row["ended_at"]
    return trial
