"""How many trials of each search, stage and state a segment holds, in a file beside it.

``<segment>.counts.json`` is written with its segment and never changes. Who only counts reads it
in place of the rows, which are thousands of times as large, and looks at the size of the segment
alone.
"""

from collections.abc import Iterable
from typing import Any

import polars as pl
import pyarrow as pa

from orchestrator.results.storage.checksummed_text import read_with_checksum, write_compact
from orchestrator.results.storage.files import file_size
from orchestrator.results.storage.locations import Place
from orchestrator.results.trial_files.compaction_manifest import Segment, counts_file_of
from podium.errors import CorruptFileError

COUNTED = ("search", "stage", "state", "same_as", "index")
"""Columns of trials that counts are made of."""

_KEY = ("search", "stage", "state")
_SUMS = ("trials", "trained")
COUNTS_SCHEMA = pl.Schema(
    {
        **dict.fromkeys(_KEY, pl.String()),
        **dict.fromkeys(_SUMS, pl.Int64()),
        "last_index": pl.Int64(),
    }
)
"""Columns of counts: ``trained`` are the trials that are no copies, ``last_index`` the largest."""


def counted(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The counts of rows with the columns `COUNTED`; in no order."""
    counts = rows.group_by(_KEY).agg(
        pl.len().alias("trials"),
        pl.col("same_as").is_null().sum().alias("trained"),
        pl.col("index").max().alias("last_index"),
    )
    return counts.select(pl.col(name).cast(kind) for name, kind in COUNTS_SCHEMA.items())


def counts_in(rows: pa.Table) -> pl.DataFrame:
    """The counts of a table of trials."""
    return counted(pl.LazyFrame(pl.from_arrow(rows.select(COUNTED)))).collect()


def added_up(parts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The counts of several parts together, sorted; each trial is in one of them."""
    whole = pl.concat([pl.DataFrame(schema=COUNTS_SCHEMA), *parts])
    counts = whole.group_by(_KEY).agg(pl.col(_SUMS).sum(), pl.col("last_index").max())
    return counts.select(COUNTS_SCHEMA.names()).sort(_KEY)


def write_counts(segment: Place, num_bytes: int, counts: pl.DataFrame) -> str:
    """Write the counts beside the file of a segment, which has so many bytes.

    Returns:
        Their checksum.
    """
    values = {"bytes": num_bytes, "counts": counts.to_dict(as_series=False)}
    return write_compact(counts_file_of(segment), values)


def read_counts(segment: Segment) -> pl.DataFrame:
    """The counts of a segment.

    Raises:
        CorruptFileError: their file is missing, damaged, not the one that the manifest means, or
            holds something else; or the file of the segment is missing or of another size.
    """
    path = segment.counts_file
    values, found = read_with_checksum(path)
    if values is None or found != segment.counts:
        what = "is missing" if values is None else "does not match its checksum there"
        raise CorruptFileError(
            f"{path} {what}, and the manifest names it. Restore the file from a copy"
        )
    num_bytes = file_size(segment.path)
    if num_bytes != values.get("bytes"):
        raise CorruptFileError(
            f"{segment.path} has {num_bytes} bytes; {path.name} beside it says"
            f" {values.get('bytes')}. Restore the file from a copy"
        )
    return _frame_of(path, values.get("counts"))


def _frame_of(path: Place, columns: Any) -> pl.DataFrame:
    try:
        counts = pl.DataFrame(columns, schema=COUNTS_SCHEMA, strict=True)
    except (TypeError, ValueError, AttributeError, pl.exceptions.PolarsError) as error:
        raise CorruptFileError(f"{path} does not hold counts of trials: {error}") from error
    if counts.null_count().sum_horizontal().item():
        raise CorruptFileError(f"{path} holds counts with nothing in them")
    return counts
