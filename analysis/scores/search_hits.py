"""Validation hits of the searches of a study, every epoch and class, a part at a time.

They are most of what a study stores: of a million trials more rows than memory holds. So they are
read once, sorted into parts of whole searches in files of their own, and each statistic of them
goes through the parts.
"""

from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from weakref import finalize

import polars as pl

from podium.analysis.scores.protocol_run_checks import SEARCH
from podium.analysis.scores.protocol_runs import class_hits_of, complete_trials
from podium.orchestrator.results.trial_files.reader import Reader

# Epochs of trials whose hits are in memory together: at 50 classes five million rows.
EPOCHS_OF_PART = 100_000

_EMPTY = pl.DataFrame(
    schema={
        "number": pl.UInt32(),
        **dict.fromkeys(("fold", "epoch", "class_id"), pl.Int32()),
        **dict.fromkeys(("queries", "hits"), pl.Int64()),
    }
)


class SearchHits:
    """Hits of the complete trials of searches, as `protocol_run_checks` has them.

    Going through it gives tables in the order of their searches, each with all rows of some; what
    was read is kept, in files of a temporary folder unless it is one part. Searches without hits
    have no rows, so a table may be empty.

    Args:
        trials: trials of the store, one row each.
        reader: reader of the store.
        k: K of Recall@K; all epochs are stored for the primary K only.
    """

    def __init__(self, trials: pl.DataFrame, reader: Reader, *, k: int) -> None:
        self._reader = reader
        self._k = k
        self._trials = _with_parts(trials)
        self._num_parts = int(self._trials["part"].max() or 0) + 1  # type: ignore[arg-type]
        self._whole: pl.DataFrame | None = None
        self._folder: Path | None = None

    def __iter__(self) -> Iterator[pl.DataFrame]:
        if self._num_parts == 1:
            if self._whole is None:
                self._whole = self._checked(self._reader.summarise(self._query))
            yield self._whole
            return
        if self._folder is None:
            self._folder = self._sorted_into_parts()
        for part in range(self._num_parts):
            yield pl.read_ipc(_file(self._folder, part))

    def _query(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Rows of hits, with the number of their trial and that of its part."""
        numbers = self._trials.select("trial_id", "search", "number", "part")
        is_kept = (pl.col("role") == "val", pl.col("k") == self._k, pl.col("queries") > 0)
        return (
            rows.filter(pl.col("stage") == "search", pl.col("state") == "COMPLETE")
            .select("trial_id", "search", "class_hits")
            # An inner join would keep all hits in memory to see which side is smaller.
            .join(numbers.lazy(), on=["trial_id", "search"], how="left", maintain_order="left")
            .drop_nulls("number")
            .explode("class_hits", empty_as_null=False, keep_nulls=False)
            .unnest("class_hits")
            .filter(*is_kept)
            .select("part", "number", "fold", "epoch", "class_id", "queries", "hits")
        )

    def _sorted_into_parts(self) -> Path:
        folder = Path(mkdtemp(prefix="podium-hits-"))
        finalize(self, rmtree, folder, ignore_errors=True)
        raw = folder / "raw"
        sink = pl.PartitionBy(raw, key="part", include_key=False, approximate_bytes_per_file=None)
        self._reader.summarise(
            lambda rows: self._query(rows).sink_parquet(
                sink, mkdir=True, compression="lz4", lazy=True
            )
        )
        for part in range(self._num_parts):
            files = sorted((raw / f"part={part}").glob("*"))
            hits = pl.concat([_EMPTY, *(_read(file) for file in files)], how="vertical_relaxed")
            self._checked(hits).write_ipc(_file(folder, part), compression="lz4")
            for file in files:
                file.unlink()
        return folder

    def _checked(self, hits: pl.DataFrame) -> pl.DataFrame:
        names = self._trials.filter(pl.col("number").is_in(hits["number"].unique().implode()))
        return class_hits_of(names, hits)


def _with_parts(trials: pl.DataFrame) -> pl.DataFrame:
    """The complete trials of searches, numbered, with the part that their search is in."""
    epochs = pl.col("epochs_run").fill_null(1).cast(pl.Int64).sum().alias("epochs")
    complete = complete_trials(trials)
    before = pl.col("epochs").cum_sum() - pl.col("epochs")
    parts = (
        complete.group_by(SEARCH)
        .agg(epochs)
        .sort(SEARCH)
        .select(*SEARCH, (before // EPOCHS_OF_PART).rle_id().alias("part"))
    )
    numbered = complete.with_row_index("number")
    return numbered.join(parts, on=SEARCH, nulls_equal=True, maintain_order="left")


def _file(folder: Path, part: int) -> Path:
    return folder / f"{part}.ipc"


def _read(file: Path) -> pl.DataFrame:
    return pl.read_parquet(file, hive_partitioning=False)
