"""Reads a results folder as polars frames, at any moment of a run and from any machine.

Each frame is the union of the gathered files and of the files of other trials: every trial
exactly once, also while rows are being gathered. Which files those are is decided when a frame
is collected, and the checksum of each is verified first. Details are read a stage of a search at a
time, so that what a sink or the streaming engine makes of them may be larger than memory. Rows
come sorted by stage, search, index, fold, seed_index, trial_id, so equal results give equal tables
whatever files they lie in; nested rows keep their order.

A file that lacks columns, because the study gained hyperparameters later, reads as null there.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any

import polars as pl
from polars.io.plugins import register_io_source

from podium.errors import CorruptFileError, StoreError
from podium.kept_files.embeddings_file import EmbeddingsFile, decode_embeddings
from podium.orchestrator.results.records.artifact_files import embedding_files
from podium.orchestrator.results.records.journal import read_attempts
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import (
    own_provenance,
    read_store,
    started_study,
)
from podium.orchestrator.results.records.trial_schema import NESTED_COLUMNS, TEST_COLUMNS
from podium.orchestrator.results.storage.files import read_whole
from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.results.trial_files.inventory import open_rows, take_inventory
from podium.orchestrator.results.trial_files.parquet_file import FILE, collect, scan

_TEXT, _INT, _NUMBER = pl.String(), pl.Int64(), pl.Float64()
ATTEMPT_COLUMNS = pl.Schema(
    {
        **dict.fromkeys(("trial_id", "search"), _TEXT),
        "number": _INT,
        "node": _TEXT,
        "pid": _INT,
        "device": _TEXT,
        **dict.fromkeys(("started_at", "ended_at"), pl.Datetime("us", "UTC")),
        **dict.fromkeys(("cause", "message"), _TEXT),
        "reports": _INT,
        **dict.fromkeys(("seconds", "cpus", "gpus"), _NUMBER),
        **dict.fromkeys(("peak_memory_mb", "device_memory_mb"), _NUMBER),
        "members": _INT,
    }
)
_ORDER = ("stage", "search", "index", "fold", "seed_index", "trial_id")

# Columns of trials that rows of scores, hits and retrievals have. The trial's own fold is renamed,
# since nested rows have one too.
_CARRIED: tuple[str | pl.Expr, ...] = (
    *("trial_id", "search", "stage", "block", "dataset", "backbone", "embedding_dim", "loss"),
    *("protocol", "repeat", "seed", "seed_index", "config_hash", "is_default", "is_winner"),
    *("state", "epoch_selected"),
    pl.col("fold").alias("trial_fold"),
)

_NESTED = {name for name, _ in (*NESTED_COLUMNS, *TEST_COLUMNS)}

_ROLE, _DECISIVE_ROLES = pl.element().struct.field("role"), ("train", "val")
_RESUMED = (
    *("trial_id", "search", "stage", "index", "is_default", "train_on", "epochs_planned"),
    *("state", "objective", "epoch_selected", "backbone", "weights"),
)


class Reader:
    """Frames of one results folder.

    Collecting a frame raises CorruptFileError for a truncated, foreign or damaged file, naming
    it, and StoreError if the folder cannot be read.

    Raises:
        PodiumError: ``folder`` is not a results folder.
    """

    def __init__(self, folder: Place) -> None:
        self._paths = StudyPaths(folder)
        self._store = read_store(self._paths)
        self._schema = pl.Schema(self._store.schema)
        self._whole: set[Place] = set()  # files that were checked, which never change
        self._files: dict[str, list[Place]] = {}  # of each search, as they were listed last

    def study(self) -> dict[str, Any]:
        """The resolved study."""
        return started_study(self._paths)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics that were scored for each K; the first is the objective."""
        return tuple(metric.name for metric in self._store.metrics)

    @property
    def objective(self) -> str:
        """The metric that searches maximise: ``recall``, or ``ndcg`` of continuous labels."""
        return self.metrics[0]

    def provenance(self) -> dict[str, Any]:
        """Versions, hardware and hashes of the study's first start."""
        return own_provenance(self._paths)

    def trials(self) -> pl.LazyFrame:
        """One row a trial: every column that is not nested.

        Test scores are those of final and baseline trials: in searches their columns are null.
        """
        return self._rows().select(name for name in self._schema if name not in _NESTED)

    def summarise(
        self, query: Callable[[pl.LazyFrame], pl.LazyFrame], *, with_present_winner: bool = False
    ) -> pl.DataFrame:
        """The result of a query on all trials with all columns, in no order.

        Each file is read once, a few row groups at a time: memory holds little more than the
        result, however large the store. So it is the way to what is small beside the rows that it
        follows from; `scores` and the like give rows in order. The query is run again where files
        were gathered meanwhile, and what it writes is overwritten then. Without the present
        winner, ``is_winner`` is as it was when each row was written.
        """
        self._files = take_inventory(self._paths)
        is_winner = self._present_winner() if with_present_winner else pl.col("is_winner")
        return self._collect(
            lambda rows: query(rows.with_columns(is_winner=is_winner)), in_parts=True
        )

    def scores(self) -> pl.LazyFrame:
        """One row per trial, fold, epoch, role, metric and k, of training and validation."""
        return self._details("scores", in_all=True)

    def class_hits(self) -> pl.LazyFrame:
        """One row per trial, fold, epoch, role, k and class, of validation."""
        return self._details("class_hits", in_all=True)

    def test_scores(self) -> pl.LazyFrame:
        """As `scores`, on the test classes."""
        return self._details("test_scores")

    def test_class_hits(self) -> pl.LazyFrame:
        """As `class_hits`, on the test classes."""
        return self._details("test_class_hits")

    def test_retrievals(self) -> pl.LazyFrame:
        """One row per trial, fold and stored query; ``neighbours`` is a list, best first."""
        return self._details("test_retrievals")

    def _details(self, column: str, *, in_all: bool = False) -> pl.LazyFrame:
        """One row per nested row of a column, which nearly all trials have if ``in_all``.

        Else trials without any are left out first, for which the column is decoded twice.
        """
        has_some = () if in_all else (pl.col(column).list.len() > 0,)
        return (
            self._rows()
            .filter(*has_some)
            .select(*_CARRIED, column)
            .explode(column, empty_as_null=False, keep_nulls=False)
            .unnest(column)
        )

    def test_embeddings(self, trial_id: str) -> EmbeddingsFile | None:
        """Test embeddings of a trial's first fold; None if the folder has none."""
        files = embedding_files(self._paths, trial_id)
        if not files:
            return None
        file = files[min(files)]
        return decode_embeddings(read_whole(file), str(file))

    def attempts(self) -> pl.LazyFrame:
        """One row per attempt at a trial, by trial id and number."""
        rows = [asdict(attempt) for attempt in read_attempts(self._paths)]
        return pl.LazyFrame(rows, ATTEMPT_COLUMNS).sort("trial_id", "number")

    def ended_trials(self) -> pl.DataFrame:
        """The few columns by which a study is resumed, in no order; none is of tests."""
        return self.summarise(lambda rows: rows.select(*_RESUMED))

    def decisive_scores(self, trials: Mapping[str, str]) -> pl.DataFrame:
        """``trial_id`` and the ``scores`` of training and validation of some trials, in no order.

        Only the files of their searches are read, and the folder is not listed anew.
        """
        self._files = self._files or take_inventory(self._paths)
        wanted = pl.LazyFrame({"trial_id": list(trials)}, schema={"trial_id": pl.String})
        scores = pl.col("scores").list.filter(_ROLE.is_in(_DECISIVE_ROLES))
        # A filter by many ids would be prepared anew for each file.
        return self._collect(
            lambda rows: rows.select("trial_id", scores).join(wanted, on="trial_id", how="semi"),
            set(trials.values()),
        )

    def _rows(self) -> pl.LazyFrame:
        """Every trial with every column, in order.

        Only columns that are used are read, and where rows are filtered by columns of trials, only
        their rows. ``is_winner`` is that of each search as it is now, not as it was when the row
        was written.
        """
        return register_io_source(self._read, schema=self._schema)

    def _read(
        self,
        columns: list[str] | None,
        predicate: pl.Expr | None,
        num_rows: int | None,
        batch_size: int | None,
    ) -> Iterator[pl.DataFrame]:
        """What polars calls when a frame is collected."""
        wanted = columns or list(self._schema)
        used = {*wanted, *([] if predicate is None else predicate.meta.root_names())}
        self._files = take_inventory(self._paths)
        is_winner = self._present_winner() if "is_winner" in used else pl.col("is_winner")

        def query(rows: pl.LazyFrame) -> pl.LazyFrame:
            marked = rows.with_columns(is_winner=is_winner)
            return marked if predicate is None else marked.filter(predicate)

        if num_rows is None and _NESTED & used:
            yield from self._batches(query, wanted)
        else:
            rows = self._collect(lambda rows: query(rows).sort(_ORDER).select(wanted))
            yield rows if num_rows is None else rows.head(num_rows)

    def _batches(
        self, query: Callable[[pl.LazyFrame], pl.LazyFrame], wanted: Sequence[str]
    ) -> Iterator[pl.DataFrame]:
        """Columns of the rows that a query filters, in order, a stage of a search at a time."""
        parts = self._collect(lambda rows: query(rows).select("stage", "search").unique())
        yield self._collect(lambda rows: query(rows).select(wanted), ())  # even without a part
        for stage, search in parts.sort("stage", "search").iter_rows():

            def of_part(rows: pl.LazyFrame, stage: str = stage) -> pl.LazyFrame:
                return query(rows).filter(pl.col("stage") == stage).sort(_ORDER).select(wanted)

            yield self._collect(of_part, [search])

    def _collect(
        self,
        query: Callable[[pl.LazyFrame], pl.LazyFrame],
        searches: Collection[str] | None = None,
        *,
        in_parts: bool = False,
    ) -> pl.DataFrame:
        """The result of a query on the rows of some searches, or of all.

        It is run again where files were gathered meanwhile.
        """
        while True:
            files = self._files
            try:
                rows = query(self._scan(files, files if searches is None else searches))
                return collect(rows, self._paths.folder, in_parts=in_parts)
            except (OSError, CorruptFileError, pl.exceptions.PolarsError) as error:
                self._files = self._files_after(files, error)

    def _scan(self, known: Mapping[str, list[Place]], searches: Iterable[str]) -> pl.LazyFrame:
        files = [file for search in searches for file in known.get(search, ())]
        # Before polars decodes them, which may misread flipped bits.
        new = [file for file in files if file not in self._whole]
        open_rows(new, self._store)
        self._whole.update(new)
        return scan(files, self._store.schema).drop(FILE)

    def _files_after(
        self, known: Mapping[str, list[Place]], error: Exception
    ) -> dict[str, list[Place]]:
        """The files to read instead, if some were gathered meanwhile; else raises the cause."""
        files, fresh = [*chain.from_iterable(known.values())], take_inventory(self._paths)
        if not set(files) <= {*chain.from_iterable(fresh.values())}:
            return fresh
        if isinstance(error, CorruptFileError):
            raise error
        for file in files:
            # All columns can be decoded.
            open_rows([file], self._store, self._store.schema.names)
        if isinstance(error, OSError):
            raise StoreError(f"cannot read {self._paths.folder}: {error}") from error
        raise error  # every file is whole, so the query was wrong

    def _present_winner(self) -> pl.Expr:
        """``is_winner``, recomputed for each search as it is now.

        A search that was extended, or whose failed trials were retried, may have found a better
        config since; the finals of the one before are no longer those of the winner.
        """
        present = self._collect(_finalists)
        of_search = pl.col("search").replace_strict(
            present["search"], present["config_hash"], default=None, return_dtype=pl.String
        )
        is_final = pl.col("stage") == "final"
        return (is_final & (pl.col("config_hash") == of_search)).fill_null(value=False)


def _finalists(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Config of each search's winner, among those that have finals.

    The winner is the last that was selected. Of several selected from equally many trials, and of
    the published default, which has finals without being selected, it is the one with the best
    trial, the earliest on ties: they are several if failed trials were retried. A winner whose
    trial is missing stays the winner. Where nothing selected has finals yet, the default is the
    winner only if its trial is the best of the search.
    """
    is_winner, score = pl.col("is_winner"), pl.col("objective")
    keys = ["search", "config_hash"]
    searched = (
        rows.filter(pl.col("stage") == "search", pl.col("state") == "COMPLETE")
        .group_by(keys)
        .agg(score.max(), pl.col("index").min())
        .with_columns(is_best=score == score.max().over("search"))
    )
    finals = (
        rows.filter(pl.col("stage") == "final", is_winner | pl.col("is_default"))
        .group_by(keys)
        .agg(is_winner.any(), pl.col("selected_from").max())
        .with_columns(
            pl.when(is_winner)
            .then("selected_from")
            .otherwise(pl.col("selected_from").max().over("search"))
        )
    )
    return (
        finals.join(searched, on=keys, how="left")
        .filter(is_winner.any().over("search") | pl.col("is_best"))
        .with_columns(pl.when(is_winner).then(score.fill_null(math.inf)).otherwise(score))
        .drop_nulls("objective")
        .sort("selected_from", "objective", "index", descending=[False, False, True])
        .group_by("search", maintain_order=True)
        .agg(pl.col("config_hash").last())
    )
