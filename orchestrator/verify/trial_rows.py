"""Reads every committed trial of a results folder, each once, also while files are compacted."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.trial_schema import IDENTITY_COLUMNS
from orchestrator.results.storage.local_copies import fetch
from orchestrator.results.storage.locations import Place
from orchestrator.results.trial_files.compaction_manifest import Inventory, take_inventory
from orchestrator.results.trial_files.integrity import check_counts, check_segments_disjoint
from orchestrator.results.trial_files.parquet_file import has_checksum, read_groups
from orchestrator.results.trial_files.row_checks import check_row_fits_path
from orchestrator.results.trial_files.segment_counts import counts_in
from orchestrator.results.trial_files.segment_trials import SegmentTrials
from orchestrator.results.trial_files.stored_rows import polars_schema
from orchestrator.verify.findings import Findings
from orchestrator.verify.stored_trials import StoredTrials, TrialsBeingRead
from podium.errors import CorruptFileError

_ROWS_AT_ONCE = 32  # as plain values in memory together
_HEAVY = ("class_hits", "test_class_hits", "test_retrievals")
# What a copy has of its own.
_OF_COPIES = {name for name, _ in IDENTITY_COLUMNS} | {"attempts", "test_readings"}
_HIT_KEY = ("trial_id", "fold", "epoch", "role", "k")


@dataclass(slots=True)
class _Reading:
    paths: StudyPaths
    study: str
    schema: pa.Schema
    check: Callable[[Mapping[str, Any]], Iterator[tuple[str, object]]]
    findings: Findings
    trials: TrialsBeingRead
    without_checksum: int = 0

    def take(self, path: Place, inventory: Inventory) -> None:
        """Read every trial of a file that was not read yet."""
        self.without_checksum += not has_checksum(path)
        segment = inventory.segments.get(path)
        listed = segment.trials if segment is not None else None
        seen: set[str] = set()
        counts: list[pl.DataFrame] = []
        for group in read_groups(path, self.schema):
            if listed is None:
                check_row_fits_path(path, group, self.study)
            else:
                counts.append(counts_in(group))
            self._hits(path, group)
            for start in range(0, group.num_rows, _ROWS_AT_ONCE):
                part = group.slice(start, _ROWS_AT_ONCE)
                for index, row in enumerate(part.drop_columns(list(_HEAVY)).to_pylist()):
                    self._row(path, row, part.slice(index, 1), listed)
                    if row["trial_id"] in seen:
                        self.findings.problem(
                            path, "a trial must occur exactly once", row["trial_id"]
                        )
                    seen.add(row["trial_id"])
        if not seen:
            raise CorruptFileError(f"{path} holds no rows")
        if segment is not None:
            segment.check_listing()
            if seen != set(segment.trials):
                raise CorruptFileError(
                    f"{path} does not hold the trials that the listing beside it says"
                )
            check_counts(segment, counts)

    def _row(
        self,
        path: Place,
        row: dict[str, Any],
        whole: pa.Table,
        listed: SegmentTrials | None,
    ) -> None:
        trial_id = row["trial_id"]
        if trial_id is None or trial_id in self.trials:
            return
        if row["study"] != self.study:
            self._violation(path, trial_id, f"study must be {self.study!r}", repr(row["study"]))
        search = None if listed is None else listed.search_of(trial_id)
        if search is not None and search != row["search"]:
            rule = f"the listing must say that its search is {row['search']}"
            self._violation(path, trial_id, rule, search)
        for name in self.schema.names:
            if name.startswith("hp."):
                row.setdefault(name, None)
        for rule, value in self.check(row):
            self._violation(path, trial_id, rule, value)
        self.findings.checked["trials"] += 1
        self.trials.add(path, row, None if row["stage"] == "search" else _results(whole))

    def _hits(self, path: Place, group: pa.Table) -> None:
        """Hits of single classes must add up to those of their score."""
        for scores, hits in (("scores", "class_hits"), ("test_scores", "test_class_hits")):
            for row in _odd_sums(group, scores, hits):
                where = f"{row['role']} at {row['k']} of epoch {row['epoch']}, fold {row['fold']}"
                rule = f"{hits} of {where} must add up to its score"
                value = f"{row['hits_right']} of {row['queries_right']}"
                self._violation(path, row["trial_id"], rule, value)

    def _violation(self, path: Place, trial_id: str, rule: str, value: object) -> None:
        self.findings.problem(path, f"trial {trial_id}: {rule}", value)


def read_trials(
    paths: StudyPaths,
    study: str,
    schema: pa.Schema,
    check: Callable[[Mapping[str, Any]], Iterator[tuple[str, object]]],
    findings: Findings,
) -> StoredTrials:
    """Every committed trial by its id; what is wrong with files and rows goes to ``findings``.

    Args:
        paths: the results folder.
        study: name of the study that all rows must belong to.
        schema: columns of its trials.
        check: gives every rule that a row violates, with the value.
        findings: collects problems and notes.

    Raises:
        CorruptFileError: manifest, listings and names of files do not say which files count.
    """
    collected = TrialsBeingRead(polars_schema(schema))
    reading = _Reading(paths, study, schema, check, findings, collected)
    inventory = take_inventory(paths)
    bad: dict[Place, CorruptFileError] = {}
    done: set[Place] = set()
    while True:
        files = [path for path in inventory.files if path not in done]
        fetch(files)
        for number, path in enumerate(files, start=1):
            findings.tell(f"reading trial file {number} of {len(files)}")
            done.add(path)
            try:
                reading.take(path, inventory)
            except CorruptFileError as error:
                bad[path] = error
        fresh = take_inventory(paths)
        if fresh.manifest == inventory.manifest:
            break
        inventory = fresh  # compacted meanwhile: other files count now
    check_segments_disjoint(inventory.manifest)
    for path in inventory.files:
        if path in bad:
            with findings.reading(path):
                raise bad[path]
    findings.checked["trial files"] += len(inventory.files)
    if reading.without_checksum:
        findings.note(
            paths.trials,
            f"{reading.without_checksum} trial files are from before files held their own SHA-256;"
            " in their headers a flipped bit may go unnoticed",
        )
    return collected.trials()


def _results(row: pa.Table) -> str:
    """Hash of all columns that a copy shares with its original."""
    values = row.drop_columns([name for name in row.column_names if name in _OF_COPIES])
    text = json.dumps(values.to_pylist(), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _odd_sums(group: pa.Table, scores: str, hits: str) -> list[dict[str, Any]]:
    """Scores whose hits are not the sum of the hits of their classes."""
    if not pa.compute.any(
        pa.compute.greater(pa.compute.list_value_length(group[hits]), 0)
    ).as_py():
        return []
    known = _long(group, scores).filter(pl.col("metric") == "recall", pl.col("hits").is_not_null())
    sums = _long(group, hits).group_by(_HIT_KEY).agg(pl.col("hits", "queries").sum())
    joined = known.join(sums, on=list(_HIT_KEY), how="inner", nulls_equal=True)
    odd = (pl.col("hits") != pl.col("hits_right")) | (pl.col("queries") != pl.col("queries_right"))
    return joined.filter(odd).sort(_HIT_KEY).to_dicts()


def _long(group: pa.Table, column: str) -> pl.DataFrame:
    frame = pl.DataFrame(pl.from_arrow(group.select(["trial_id", column])))
    return frame.filter(pl.col(column).list.len() > 0).explode(column).unnest(column)
