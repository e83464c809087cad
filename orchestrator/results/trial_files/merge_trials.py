"""Merges the trials of several results folders: what must agree, and how they are written.

Whether the studies may be merged is checked by `orchestrator.results_tools.merge_studies`. Sources
are only read.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from orchestrator.results.locks.study_lock import lock_owners
from orchestrator.results.records.asks import Ask, read_asks, write_gathered_asks
from orchestrator.results.records.attempts import (
    Attempt,
    read_attempts,
    write_attempt,
    write_gathered_attempts,
)
from orchestrator.results.records.metric_columns import StoredMetric, known_test_columns
from orchestrator.results.records.retried import read_retried, write_retried
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import (
    read_metrics,
    read_schema,
    study_name,
    write_snapshot_files,
)
from orchestrator.results.records.trial_schema import COST_COLUMNS
from orchestrator.results.storage.files import list_names
from orchestrator.results.storage.locations import Place, relative_path
from orchestrator.results.storage.whole_folders import copy_file, new_folder
from orchestrator.results.trial_files.compaction import (
    trial_groups,
    with_missing_columns,
    write_segment,
)
from orchestrator.results.trial_files.compaction_manifest import (
    Inventory,
    take_inventory,
    write_manifest,
)
from orchestrator.results.trial_files.integrity import check_store
from orchestrator.results.trial_files.parquet_file import read_trials
from orchestrator.results.trial_files.reader import Reader
from orchestrator.results.trial_files.segment_trials import SegmentTrials
from podium.errors import CorruptFileError, PodiumError

_FACTS = (
    *("trial_id", "search", "stage", "block", "loss", "protocol", "repeat", "train_on"),
    *("weights", "test_hash", "protocol_hash"),
)
# What two runs of one trial may differ in: the study's name, paths, messages, costs.
_NOT_NUMBERS = {
    "study",
    "settings",
    "message",
    "traceback",
    "log",
    "selected_from",
    "is_winner",
} | {name for name, _ in COST_COLUMNS}
_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One results folder to be merged.

    Attributes:
        paths: paths of the folder.
        name: name of its study.
        study: resolved study.
        provenance: its provenance.
        schema: schema of its trial files.
        metrics: its metrics, the objective first.
        inventory: files that hold its trials.
        facts: one row per trial: the columns that have to agree between sources.
    """

    paths: StudyPaths
    name: str
    study: Mapping[str, Any]
    provenance: Mapping[str, Any]
    schema: pa.Schema
    metrics: tuple[StoredMetric, ...]
    inventory: Inventory
    facts: pl.DataFrame

    @property
    def label(self) -> str:
        """The folder, as messages name it."""
        return str(self.paths.folder)


def read_source(folder: Place) -> Source:
    """A results folder, every trial of it checked.

    Raises:
        PodiumError: it is not a results folder, or is being run, or was changed meanwhile.
        CorruptFileError: a trial cannot be read.
    """
    paths = StudyPaths(folder)
    reader = Reader(folder)
    if lock_owners(paths):
        raise PodiumError(
            f"{folder} is being run, or its run was killed: wait for the run to end before merging"
        )
    check_store(paths)
    source = Source(
        paths=paths,
        name=study_name(paths),
        study=reader.study(),
        provenance=reader.provenance(),
        schema=read_schema(paths),
        metrics=read_metrics(paths),
        inventory=take_inventory(paths),
        facts=reader.trials().select(_FACTS).collect().sort("trial_id"),
    )
    _check_unchanged(source)
    return source


def data_problems(sources: Sequence[Source]) -> list[str]:
    """Everything that keeps the trials from being compared with each other, in sentences.

    Raises:
        PodiumError: a source was changed since it was read.
    """
    facts = pl.concat(
        source.facts.with_columns(pl.lit(source.label).alias("source")) for source in sources
    )
    with _unchanged(sources):
        unequal = _unequal_trials(sources, facts)
    judged = facts.filter(pl.col("stage") != "baseline")
    of_protocol = ("block", "protocol", "repeat", "stage", "train_on")
    return [
        *_mixed(facts, ("block",), "test_hash", "test classes or images"),
        *_mixed(facts, ("block",), "weights", "weights of the network"),
        *_mixed(judged, of_protocol, "protocol_hash", "training and validation classes"),
        *_searches(judged),
        *unequal,
    ]


def write_merged(
    sources: Sequence[Source],
    output: Path,
    *,
    name: str,
    study: Mapping[str, Any],
    provenance: Mapping[str, Any],
    schema: pa.Schema,
    with_weights: bool,
) -> int:
    """Write the folder, all at once or not at all; returns how many trials it has.

    A trial of several sources is taken from the first that has it, with its attempts.

    Args:
        sources: folders in canonical order, so that the result does not depend on the order of
            the arguments.
        output: folder to make; must not exist.
        name: name of the merged study.
        study: resolved merged study.
        provenance: provenance of the merged study.
        schema: schema of its trial files.
        with_weights: whether the weights of trials are copied too.

    Raises:
        PodiumError: a source was changed since it was read; nothing is left at ``output``.
        StoreError: there is something at ``output``, or it cannot be written.
    """
    with new_folder(output) as folder, _unchanged(sources):
        paths = StudyPaths(folder)
        write_snapshot_files(paths, name=name, study=study, provenance=provenance, schema=schema)
        trials = SegmentTrials.of(
            {
                trial_id: search
                for source in sources
                for trial_id, search in source.facts.select("trial_id", "search").iter_rows()
            }
        )
        if len(trials):
            rows = _rows(sources, name, schema)
            write_manifest(paths, [write_segment(paths, schema, trials, rows)])
        _write_asks(sources, paths)
        _write_attempts(sources, paths, trials)
        for source in sources:
            _copy_files(source.paths, folder, with_weights=with_weights)
    return len(trials)


@contextmanager
def _unchanged(sources: Sequence[Source]) -> Iterator[None]:
    """Refuse what was read in the block if a source was changed by its end.

    A run may start at any moment; taking its lock would change the source.
    """
    try:
        yield
    except CorruptFileError:  # also of a file that a compaction deleted
        for source in sources:
            _check_unchanged(source)
        raise
    for source in sources:
        _check_unchanged(source)


def _check_unchanged(source: Source) -> None:
    if lock_owners(source.paths) or take_inventory(source.paths) != source.inventory:
        raise PodiumError(
            f"{source.label} was changed while it was merged, by a run or a compaction: wait for"
            " that to end, then merge again"
        )


def _rows(sources: Sequence[Source], name: str, schema: pa.Schema) -> Iterator[pa.Table]:
    """Every trial once, under the name of the merged study."""
    seen: set[str] = set()
    for source in sources:
        before = pa.array(sorted(seen), pa.string())
        for group in trial_groups(source.inventory, source.schema, source.name):
            rows = group.filter(pc.invert(pc.is_in(group["trial_id"], before)))
            if rows.num_rows:
                yield _renamed(rows, name, schema)
        seen |= set(source.facts["trial_id"])


def _renamed(rows: pa.Table, name: str, schema: pa.Schema) -> pa.Table:
    column = rows.column_names.index("study")
    renamed = rows.set_column(column, "study", pa.array([name] * rows.num_rows, pa.string()))
    present = [field for field in schema if field.name in renamed.column_names]
    typed = renamed.select([field.name for field in present]).cast(pa.schema(present))
    return with_missing_columns(typed, schema)


def _write_asks(sources: Sequence[Source], target: StudyPaths) -> None:
    """The asks of each search, of the first source that has it."""
    found: dict[str, list[Ask]] = {}
    for source in sources:
        found = read_asks(source.paths) | found
    for search, asks in found.items():
        write_gathered_asks(target, search, asks)


def _write_attempts(sources: Sequence[Source], target: StudyPaths, trials: SegmentTrials) -> None:
    """The attempts at each trial, of the first source that has some.

    Failures after which a trial was retried go with its attempts, which are counted from the last.
    """
    gathered: dict[str, list[Attempt]] = {}
    taken: set[str] = set()
    for source in sources:
        before = set(taken)
        for attempt in read_attempts(source.paths):
            if attempt.trial_id in before:
                continue
            taken.add(attempt.trial_id)
            search = trials.search_of(attempt.trial_id)
            if search is None:
                write_attempt(target, attempt)
            else:
                gathered.setdefault(search, []).append(attempt)
        for trial_id, failures in read_retried(source.paths).items():
            for failure in failures if trial_id not in before else ():
                write_retried(target, failure)
    for search, attempts in gathered.items():
        write_gathered_attempts(target, search, attempts)


def _copy_files(source: StudyPaths, target: Path, *, with_weights: bool) -> None:
    """Weights, embeddings and logs; what the target has already stays."""
    kept = [(source.embeddings, ".safetensors"), (source.trial_logs, ".log")]
    for folder, suffix in kept + [(source.models, ".safetensors")] * with_weights:
        for name in list_names(folder, suffix):
            copy_file(folder / name, target / relative_path(source.folder, folder) / name)


def _mixed(facts: pl.DataFrame, within: Sequence[str], column: str, what: str) -> Iterator[str]:
    """Groups that hold two values of a column."""
    known = facts.drop_nulls(column)
    mixed = (
        known.group_by(within)
        .agg(pl.col(column).n_unique().alias("__values"))
        .filter(pl.col("__values") > 1)
        .sort(within)
    )
    for row in mixed.head(_SHOWN).to_dicts():
        rows = known.filter(*(pl.col(name).eq_missing(pl.lit(row[name])) for name in within))
        sides = rows.group_by(column).agg(pl.col("source").unique().sort()).sort(column)
        sides_text = "; ".join(
            f"{value} in {', '.join(where)}" for value, where in sides.iter_rows()
        )
        place = " ".join(str(row[name]) for name in within if row[name] is not None)
        yield f"{place}: the {what} differ ({column} {sides_text})"
    if len(mixed) > _SHOWN:
        yield f"and {len(mixed) - _SHOWN} more with another {column}"


def _searches(facts: pl.DataFrame) -> Iterator[str]:
    """Searches of several sources that do not hold the same trials."""
    held = facts.group_by("search", "source").agg(pl.col("trial_id").sort())
    several = held.group_by("search").agg(
        pl.len().alias("__sources"),
        pl.col("trial_id").n_unique().alias("__sets"),
        pl.col("source").sort(),
    )
    unlike = several.filter(pl.col("__sources") > 1, pl.col("__sets") > 1).sort("search")
    for search, _, _, where in unlike.head(_SHOWN).iter_rows():
        yield (
            f"search {search} has other trials in {' than in '.join(where)}: together it would"
            " have a larger budget than others"
        )
    if len(unlike) > _SHOWN:
        yield f"and {len(unlike) - _SHOWN} more searches with other trials"


def _unequal_trials(sources: Sequence[Source], facts: pl.DataFrame) -> list[str]:
    """Trials that two sources have with different numbers."""
    shared = set(facts.filter(pl.col("trial_id").is_duplicated())["trial_id"])
    first: dict[str, tuple[str, dict[str, Any]]] = {}
    unequal: list[str] = []
    for source in sources if shared else ():
        for file in source.inventory.files:
            for row in read_trials(file, source.schema, shared):
                where, other = first.setdefault(row["trial_id"], (source.label, row))
                if columns := _differing(other, row):
                    unequal.append(
                        f"trial {row['trial_id']} of search {row['search']} has different"
                        f" numbers in {where} than in {source.label}"
                        f" ({', '.join(columns[:_SHOWN])})"
                    )
    more = [f"and {len(unequal) - _SHOWN} more trials"] if len(unequal) > _SHOWN else []
    return [*sorted(unequal)[:_SHOWN], *more]


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Columns of numbers; a hyperparameter that a study does not have is null.

    Flat test columns, which earlier versions did not write, follow from others.
    """
    columns = one.keys() | other.keys()
    names = sorted(columns - _NOT_NUMBERS - known_test_columns(columns).keys())
    return [name for name in names if one.get(name) != other.get(name)]
