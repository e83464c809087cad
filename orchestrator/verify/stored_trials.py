"""The trials of a results folder as its checks look at them: in columns.

There may be a million of them, and as plain values each would take several kilobytes of memory.
"""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from orchestrator.results.records.trial_schema import IDENTITY_COLUMNS
from orchestrator.results.storage.locations import Place

KEPT = (
    *(name for name, _ in IDENTITY_COLUMNS if name != "settings"),
    *("state", "objective", "attempts", "test_readings"),
)
"""Columns of rows that are kept; settings are kept beside them."""

_FILE, _RESULTS = "__file", "__results"
# Texts that many trials share.
_SHARED = (
    *("study", "search", "stage", "block", "dataset", "backbone", "weights", "loss", "protocol"),
    *("split_protocol", "train_on", "split_hash", "protocol_hash", "test_hash", "state"),
)
_CHUNK_ROWS = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTrial:
    """What is kept of a row after reading it.

    Attributes:
        file: file that holds it.
        row: the columns `KEPT`.
        results: hash of all columns that a copy of it must have too; None in searches.
    """

    file: Place
    row: Mapping[str, Any]
    results: str | None


class StoredTrials(Mapping[str, StoredTrial]):
    """Trial id -> every trial that has a row, in the order in which rows were read.

    Args:
        frame: the columns `KEPT`, number of the file and hash of the results.
        files: files that hold the rows.
        settings: settings of the trials in JSON, in compressed parts.

    Attributes:
        frame: the columns, one row for each trial.
    """

    def __init__(
        self, frame: pl.DataFrame, files: Sequence[Place], settings: Sequence[bytes]
    ) -> None:
        self.frame = frame
        self._files = files
        self._settings = settings
        ids = np.array([it.encode() for it in frame["trial_id"]], dtype=np.bytes_)
        self._order = np.argsort(ids, kind="stable")
        self._sorted_ids = ids[self._order]

    def __len__(self) -> int:
        """Number of trials."""
        return len(self.frame)

    def __iter__(self) -> Iterator[str]:
        """Trial ids."""
        return iter(self.frame["trial_id"])

    def __contains__(self, trial_id: object) -> bool:
        """Whether a trial has a row."""
        return isinstance(trial_id, str) and self.row_number(trial_id) is not None

    def __getitem__(self, trial_id: str) -> StoredTrial:
        """A trial; KeyError if it has no row."""
        place = self.row_number(trial_id)
        if place is None:
            raise KeyError(trial_id)
        return self._trial(self.frame.row(place, named=True))

    def where(self, *rules: pl.Expr | pl.Series) -> Iterator[StoredTrial]:
        """The trials for which some rules hold: on columns, or a bool for each row."""
        return map(self._trial, self.frame.filter(*rules).iter_rows(named=True))

    def first_of(self, columns: Sequence[str]) -> Iterator[StoredTrial]:
        """The first trial of those with the same values in some columns."""
        first = self.frame.unique(columns, keep="first", maintain_order=True)
        return map(self._trial, first.iter_rows(named=True))

    def by_search(self) -> Iterator[tuple[str, list[StoredTrial]]]:
        """Each search that has rows, and its trials."""
        places = self.frame.select("search", pl.int_range(pl.len()).alias("place"))
        for search, own in places.group_by("search", maintain_order=True).agg("place").iter_rows():
            rows = self.frame[own].iter_rows(named=True)
            yield search, list(map(self._trial, rows))

    def with_settings(self) -> Iterator[tuple[StoredTrial, str]]:
        """Each trial and its settings, in JSON."""
        settings = (text for part in self._settings for text in _unpacked(part))
        return zip(self.where(), settings, strict=True)

    def _trial(self, row: dict[str, Any]) -> StoredTrial:
        file, results = self._files[row.pop(_FILE)], row.pop(_RESULTS)
        return StoredTrial(file=file, row=row, results=results)

    def row_number(self, trial_id: str) -> int | None:
        """Number of a trial's row in `frame`; None if it has no row."""
        key = trial_id.encode()
        if len(key) > self._sorted_ids.itemsize:
            return None
        place = int(self._sorted_ids.searchsorted(np.array(key, dtype=self._sorted_ids.dtype)))
        is_there = place < len(self._order) and self._sorted_ids[place] == key
        return int(self._order[place]) if is_there else None


class TrialsBeingRead:
    """Collects the rows of `StoredTrials`.

    Args:
        types: types of the columns `KEPT`.
    """

    def __init__(self, types: Mapping[str, pl.DataType]) -> None:
        self._schema = {
            **{name: types[name] for name in KEPT},
            _FILE: pl.UInt32(),
            _RESULTS: pl.String(),
        }
        self._ids: set[str] = set()
        self._files: dict[Place, int] = {}
        self._rows: list[tuple[Any, ...]] = []
        self._texts: list[str] = []
        self._frames: list[pl.DataFrame] = [self._frame([])]
        self._settings: list[bytes] = []

    def __contains__(self, trial_id: str) -> bool:
        """Whether the row of a trial was added."""
        return trial_id in self._ids

    def add(self, file: Place, row: Mapping[str, Any], results: str | None) -> None:
        """Add the row of a trial.

        Args:
            file: file that holds it.
            row: its columns.
            results: hash of all columns that a copy of it must have too; None in searches.
        """
        self._ids.add(row["trial_id"])
        number = self._files.setdefault(file, len(self._files))
        self._rows.append((*(row[name] for name in KEPT), number, results))
        self._texts.append(row["settings"])
        if len(self._rows) == _CHUNK_ROWS:
            self._flush()

    def trials(self) -> StoredTrials:
        """The trials that were added; called once, in the end."""
        self._flush()
        self._ids.clear()  # a hundred bytes of each, and the frames are twice there for a moment
        frame = pl.concat(self._frames, rechunk=True)
        self._frames.clear()
        return StoredTrials(frame, list(self._files), self._settings)

    def _flush(self) -> None:
        self._frames.append(self._frame(self._rows))
        self._settings.append(_packed(self._texts))
        self._rows, self._texts = [], []

    def _frame(self, rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
        frame = pl.DataFrame(rows, schema=self._schema, orient="row")
        return frame.with_columns(pl.col(_SHARED).cast(pl.Categorical))


def _packed(texts: Sequence[str]) -> bytes:
    return zlib.compress(json.dumps(texts).encode(), level=1)


def _unpacked(packed: bytes) -> list[str]:
    texts: list[str] = json.loads(zlib.decompress(packed))
    return texts
