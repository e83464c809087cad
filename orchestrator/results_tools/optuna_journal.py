"""The searches of a results folder as a journal of Optuna, for optuna-dashboard and its like.

The journal is derived: podium never reads results from it. It is appended to, so that a dashboard
which has it open sees trials as they are committed. Trials are in the order of their commits, so
their numbers in the journal are not their numbers in the search, which are attributes.

Only the flat columns and the validation scores of the search stage are read: no test score can get
into a journal.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import optuna
import polars as pl
from optuna.storages import JournalStorage
from optuna.storages.journal import BaseJournalBackend, JournalFileBackend

from orchestrator.results.records.metric_columns import metric_label
from orchestrator.results.storage.local_files import exclusive
from orchestrator.results.storage.locations import Place
from orchestrator.results.trial_files.reader import Reader
from orchestrator.search_samplers.optuna_study import contains, distribution_of
from orchestrator.study.blocks import searches
from orchestrator.study.budget import trials_per_search
from orchestrator.study.configs import space_of, unsearched_values
from orchestrator.study.resolved_study import study_from_resolved
from orchestrator.study.study import Block, Search, Study
from podium.errors import CorruptFileError, PodiumError, StoreError
from search_spaces.parameters import Space, Value

_STATES = {
    "COMPLETE": optuna.trial.TrialState.COMPLETE,
    "PRUNED": optuna.trial.TrialState.PRUNED,
    "FAILED": optuna.trial.TrialState.FAIL,
}
_PREFIX = "hp."
_MARK = "podium_study"  # the attribute by which a study in a journal is known for one of ours
_LOCK_SECONDS = 10.0

# Columns that become attributes of a trial, under their own names.
_ATTRIBUTES = (
    *("trial_id", "config_hash", "index", "loss", "block", "protocol", "repeat", "is_default"),
    *("leaks", "cause", "epochs_run", "epoch_selected", "training_seconds"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalUpdate:
    """What one export appended.

    Attributes:
        num_studies: number of searches, each a study of Optuna.
        num_new: number of trials that were appended.
        num_trials: number of trials of these searches that the journal holds now.
    """

    num_studies: int
    num_new: int
    num_trials: int


def append_searches(folder: Place, journal: Path) -> JournalUpdate:
    """Append every search and every ended search trial that the journal lacks.

    The journal may hold studies of other results folders, and studies that podium did not write.
    A line that a killed export left incomplete at its end is cut off.

    Args:
        folder: the results folder.
        journal: file of the journal, made if it is missing; its folder must exist.

    Raises:
        PodiumError: ``folder`` is not a results folder, there is no folder for the journal, or it
            holds a study of that name which podium did not write.
        CorruptFileError: the file is no journal.
        StoreError: it cannot be written, or another export is writing it.
    """
    reader = Reader(folder)
    study = study_from_resolved(reader.study())
    if not journal.parent.is_dir():
        raise PodiumError(f"--output needs a folder that exists; got {journal.parent}")
    with exclusive(journal, limit_seconds=_LOCK_SECONDS) as is_held:
        if not is_held:
            raise StoreError(f"another export is writing {journal}; try again")
        backend = _BufferedBackend(journal)
        storage = JournalStorage(backend)
        update = _append(storage, reader, study)
        backend.write()
    return update


class _BufferedBackend(BaseJournalBackend):
    """Buffers what is appended, so that an export writes once, in one piece."""

    def __init__(self, journal: Path) -> None:
        try:
            num_lines = _cut_torn_line(journal)
            self._file = JournalFileBackend(str(journal))
            self._logs = list(self._file.read_logs(0))
        except ValueError as error:
            raise CorruptFileError(f"{journal} is not a journal of Optuna: {error}") from error
        except OSError as error:
            raise StoreError(f"cannot read {journal}: {error.strerror}") from error
        are_logs = all(isinstance(log, dict) and "op_code" in log for log in self._logs)
        if not are_logs or len(self._logs) < num_lines:  # Optuna skips a damaged last line
            raise CorruptFileError(f"{journal} is not a journal of Optuna")
        self._journal = journal
        self._num_written = len(self._logs)

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        """Part of the interface of Optuna's backends."""
        yield from self._logs[log_number_from:]

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Part of the interface of Optuna's backends."""
        self._logs += logs

    def write(self) -> None:
        """Write what was appended since the last call."""
        new = self._logs[self._num_written :]
        if not new:
            return
        try:
            self._file.append_logs(new)
        except OSError as error:
            raise StoreError(f"cannot write {self._journal}: {error.strerror}") from error
        self._num_written = len(self._logs)


def _cut_torn_line(journal: Path) -> int:
    """Cut off what follows the last complete line; returns the number of lines left."""
    with journal.open("r+b") as file:
        data = file.read()
        whole = data.rfind(b"\n") + 1
        if whole == 0 and data:
            raise ValueError("it has no complete line")
        if whole < len(data):
            file.truncate(whole)
    return data.count(b"\n")


def _append(storage: JournalStorage, reader: Reader, study: Study) -> JournalUpdate:
    metric = metric_label(reader.objective, study.ks[0])
    rows = _rows(reader, study.ks[0])
    planned = {search.id: search for search in (*searches(study), *_searches_in(rows, study))}
    by_search = {key[0]: part for key, part in rows.group_by("search", maintain_order=True)}
    num_new = 0
    num_trials = 0
    names = {found.study_name for found in storage.get_all_studies()}
    for search_id, search in planned.items():
        optuna_study = _study_of(storage, names, study, search, metric)
        known = {trial.user_attrs.get("trial_id") for trial in optuna_study.get_trials(False)}
        trials = by_search.get(search_id, rows.clear())
        space = space_of(study, search.loss, unsearched_values(study, search.block, search.loss))
        for row in trials.filter(~pl.col("trial_id").is_in(list(known))).iter_rows(named=True):
            optuna_study.add_trial(_trial(row, space, has_seconds=study.search.wants_seconds))
            num_new += 1
        num_trials += len(trials)
    return JournalUpdate(
        num_studies=len(planned),
        num_new=num_new,
        num_trials=num_trials,
    )


def _searches_in(rows: pl.DataFrame, study: Study) -> Iterator[Search]:
    """Searches of the trials, which changed studies may not plan any more.

    Raises:
        PodiumError: the study has no such data set or loss, so that ranges are unknown.
    """
    names = [field.name for field in fields(Block)]
    found = rows.select("search", *names, "loss", "protocol", "repeat")
    for row in found.unique(maintain_order=True).iter_rows(named=True):
        is_known = row["dataset"] in {dataset.label for dataset in study.datasets}
        if not is_known or row["loss"] not in study.loss_names:
            raise PodiumError(f"study.yaml has no search {row['search']}, but there are trials")
        block = Block(**{name: row[name] for name in names})
        yield Search(block=block, loss=row["loss"], protocol=row["protocol"], repeat=row["repeat"])


def _study_of(
    storage: JournalStorage, names: set[str], study: Study, search: Search, metric: str
) -> optuna.Study:
    """The study of a search in the journal, made if it is not among ``names``."""
    name = f"{study.name}/{search.id}"
    if name in names:
        found = optuna.load_study(study_name=name, storage=storage)
        if _MARK not in found.user_attrs:
            raise PodiumError(
                f"the journal holds a study {name!r} that podium did not write; export to another"
                " file"
            )
        return found
    both = study.search.wants_seconds
    made = optuna.create_study(
        storage=storage,
        study_name=name,
        directions=["maximize", "minimize"] if both else ["maximize"],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        metric_names = [f"validation {metric}", "training seconds"]
        made.set_metric_names(metric_names if both else metric_names[:1])
    attributes = {
        _MARK: study.name,
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
            *(field.name for field in fields(Block)),
            *_ATTRIBUTES,
            pl.col(f"^{_PREFIX.replace('.', '[.]')}.*$"),
        )
        .join(curves, on="trial_id", how="left")
        .sort("ended_at", "index", "trial_id")
        .collect()
    )


def _trial(row: Mapping[str, Any], space: Space, *, has_seconds: bool) -> optuna.trial.FrozenTrial:
    """A row as a trial of Optuna, with the values that a search reports to its sampler."""
    distributions = {
        name: distribution_of(parameter) for name, parameter in space.parameters.items()
    }
    params: dict[str, Value] = {}
    others: dict[str, Value] = {}
    for column, value in row.items():
        if not column.startswith(_PREFIX) or value is None:
            continue
        name = column.removeprefix(_PREFIX)
        distribution = distributions.get(name)
        if distribution is not None and contains(distribution, value):
            params[name] = distribution.to_external_repr(distribution.to_internal_repr(value))
        else:
            others[name] = value
    return optuna.trial.FrozenTrial(
        number=-1,  # assigned by the journal
        trial_id=-1,
        state=_STATES[row["state"]],
        value=None,
        values=_values(row, has_seconds),
        datetime_start=row["started_at"],
        datetime_complete=row["ended_at"],
        params=params,
        distributions={name: distributions[name] for name in params},
        user_attrs={
            **{name: row[name] for name in _ATTRIBUTES if row[name] is not None},
            **({"not_in_space": others} if others else {}),
        },
        system_attrs={},
        intermediate_values={point["epoch"]: point["value"] for point in row["curve"] or ()},
    )


def _values(row: Mapping[str, Any], has_seconds: bool) -> Sequence[float] | None:
    """Objectives of a trial; None if failed, or pruned with two objectives, as in Optuna."""
    if row["objective"] is None or row["state"] == "FAILED":
        return None
    if not has_seconds:
        return [row["objective"]]
    return [row["objective"], row["training_seconds"]] if row["state"] == "COMPLETE" else None
