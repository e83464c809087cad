"""The searches of a results folder as a journal of Optuna, for optuna-dashboard and its like.

The journal is derived: podium never reads results from it. It is appended to, so that a dashboard
which has it open sees trials as they are committed. Trials are in the order of their commits, so
their numbers in the journal are not their numbers in the search, which are attributes.

Only the flat columns and the validation scores of the search stage are read: no test score can get
into a journal.
"""

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import optuna
import polars as pl
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from podium.errors import CorruptFileError, PodiumError
from podium.orchestrator.results.records.metric_columns import metric_label
from podium.orchestrator.results.storage.local_files import store_errors
from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.search_samplers.optuna_study import OPTUNA_STATES, distribution_of
from podium.orchestrator.search_samplers.unit_cube import is_inside
from podium.orchestrator.study.blocks import searches, trials_per_search
from podium.orchestrator.study.configs import space_of, unsearched_values
from podium.orchestrator.study.resolved_study import study_from_resolved
from podium.orchestrator.study.study import Search, Study
from podium.search_spaces.parameters import Choice, Int, Real
from podium.trainables.file_caches.file_locks import file_lock

_PREFIX = "hp."

# Columns that become attributes of a trial, under their own names.
_ATTRIBUTES = (
    *("trial_id", "config_hash", "index", "loss", "block", "protocol", "repeat", "is_default"),
    *("leaks", "cause", "epochs_run", "epoch_selected", "training_seconds"),
)


def append_searches(folder: Place, journal: Path) -> int:
    """Append every search and every ended search trial that the journal lacks: number of these.

    The journal may hold other studies. A line that a killed export left incomplete at its end is
    cut off.

    Args:
        folder: the results folder.
        journal: file of the journal, made if it is missing; its folder must exist.

    Raises:
        PodiumError: ``folder`` is not a results folder, or there is none for the journal.
        CorruptFileError: the file is no journal.
        StoreError: it cannot be read or written.
    """
    reader = Reader(folder)
    study = study_from_resolved(reader.study())
    if not journal.parent.is_dir():
        raise PodiumError(f"--output needs a folder that exists; got {journal.parent}")
    own_lock = file_lock(journal.with_name(f".{journal.name}.lock"), doing=f"writing {journal}")
    with own_lock, store_errors("write", journal):
        backend = _BufferedFile(journal)
        num_new = _append(JournalStorage(backend), reader, study)
        backend.write()
    return num_new


class _BufferedFile(JournalFileBackend):
    """A file of which an export writes what it appends once, in one piece: it is synced once."""

    def __init__(self, journal: Path) -> None:
        super().__init__(str(journal))
        data = journal.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        try:
            self.logs = [dict(json.loads(line)) for line in whole.splitlines()]
        except (ValueError, TypeError) as error:
            raise CorruptFileError(f"{journal} is not a journal of Optuna: {error}") from error
        if (data and not whole) or not all("op_code" in log for log in self.logs):
            raise CorruptFileError(f"{journal} is not a journal of Optuna: a line is no operation")
        self._journal, self._num_written, self._num_whole = journal, len(self.logs), len(whole)

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:  # type: ignore[override]
        """Part of the interface of Optuna's backends."""
        yield from self.logs[log_number_from:]

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Part of the interface of Optuna's backends."""
        self.logs += logs

    def write(self) -> None:
        """Write what was appended, in place of what follows the last complete line."""
        if new := self.logs[self._num_written :]:
            os.truncate(self._journal, self._num_whole)
            super().append_logs(new)


def _append(storage: JournalStorage, reader: Reader, study: Study) -> int:
    rows, planned, num_new = _rows(reader, study.ks[0]), searches(study), 0
    names = {found.study_name for found in storage.get_all_studies()}
    metric = metric_label(reader.objective, study.ks[0])
    for search in planned:
        made = _study_of(storage, names, study, search, metric)
        known = [trial.user_attrs.get("trial_id") for trial in made.get_trials(deepcopy=False)]
        space = space_of(study, search.loss, unsearched_values(study, search.block, search.loss))
        new = rows.filter(pl.col("search") == search.id, ~pl.col("trial_id").is_in(known))
        made.add_trials(_trial(row, space.parameters) for row in new.iter_rows(named=True))
        num_new += new.height
    for search_id in set(rows["search"]) - {search.id for search in planned}:
        raise PodiumError(f"study.json has no search {search_id}, but there are trials")
    return num_new


def _study_of(
    storage: JournalStorage, names: set[str], study: Study, search: Search, metric: str
) -> optuna.Study:
    """The study of a search in the journal, made if it is not among ``names``."""
    name = f"{study.name}/{search.id}"
    if name in names:
        return optuna.load_study(study_name=name, storage=storage)
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
            pl.col(f"^{_PREFIX.replace('.', '[.]')}.*$"),
        )
        .join(curves, on="trial_id", how="left")
        .sort("ended_at", "index", "trial_id")
        .collect()
    )


def _trial(
    row: Mapping[str, Any], space: Mapping[str, Real | Int | Choice]
) -> optuna.trial.FrozenTrial:
    """A row as a trial of Optuna, with the values that a search reports to its sampler."""
    config = {
        column.removeprefix(_PREFIX): value
        for column, value in row.items()
        if column.startswith(_PREFIX) and value is not None
    }
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
