"""A report's reader reads a store once and says what a plain one says."""

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.scores.cached_reader import CachedReader
from analysis.scores.compared_runs import ComparedRuns
from analysis.scores.protocol_runs import final_runs, search_class_hits, search_runs
from benchmarks.synthetic_rows import Size
from benchmarks.synthetic_store import write_synthetic_store
from orchestrator.results.trial_files.reader import Reader

_K = 1


@pytest.fixture(scope="module")
def synthetic_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    return write_synthetic_store(folder, Size(trials=2, seeds=1, epochs=3), asks=False)


def test_kept_frames_are_those_of_a_plain_reader(synthetic_folder: Path) -> None:
    kept, plain = CachedReader(synthetic_folder, k=_K), Reader(synthetic_folder)
    scores = kept.validation_scores().collect()
    of_validation = plain.scores().filter(
        pl.col("role") == "val", pl.col("metric") == "recall", pl.col("k") == _K
    )
    assert scores.height
    assert_frame_equal(scores, of_validation.select(scores.columns).collect())
    assert_frame_equal(kept.test_scores().collect(), plain.test_scores().collect())
    hits = kept.test_hits().collect()
    assert hits.height
    of_test = plain.test_class_hits().filter(pl.col("k") == _K)
    assert_frame_equal(hits, of_test.select(hits.columns).collect())


def test_kept_hits_lack_only_unfinished_searches_and_empty_classes(synthetic_folder: Path) -> None:
    hits = CachedReader(synthetic_folder, k=_K).validation_hits().collect()
    rows = (
        Reader(synthetic_folder)
        .class_hits()
        .filter(pl.col("role") == "val", pl.col("k") == _K, pl.col("queries") > 0)
    )
    left_out = (pl.col("stage") == "search") & (pl.col("state") != "COMPLETE")
    assert hits.height
    assert_frame_equal(hits, rows.filter(~left_out).select(hits.columns).collect())


def test_runs_are_those_of_a_plain_reader(synthetic_folder: Path) -> None:
    plain = Reader(synthetic_folder)
    trials = plain.trials().collect()
    runs = ComparedRuns(trials, CachedReader(synthetic_folder, k=_K), k=_K)
    frames = plain.scores(), plain.test_scores()
    assert_frame_equal(runs.searches, search_runs(trials, *frames, metric="recall", k=_K))
    finals = final_runs(trials, *frames, metric="recall", k=_K, train_on="part")
    assert_frame_equal(runs.finals, finals)
    assert_frame_equal(runs.class_hits, search_class_hits(trials, plain.class_hits(), k=_K))
    assert min(runs.searches.height, runs.finals.height, runs.class_hits.height) > 0


def test_each_table_is_read_once(synthetic_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = CachedReader(synthetic_folder, k=_K)
    runs = ComparedRuns(reader.trials().collect(), reader, k=_K)
    first = runs.searches, runs.finals, runs.class_hits
    tested, attempts = reader.test_hits().collect(), reader.attempts().collect()
    monkeypatch.delattr(Reader, "_rows")
    monkeypatch.delattr(Reader, "attempts")
    again = runs.searches, runs.finals, runs.class_hits
    assert all(one is other for one, other in zip(first, again, strict=True))
    assert_frame_equal(reader.test_hits().collect(), tested)
    assert_frame_equal(reader.attempts().collect(), attempts)


def test_kept_hits_take_little_memory_for_the_names_of_trials(synthetic_folder: Path) -> None:
    reader = CachedReader(synthetic_folder, k=_K)
    reader.validation_hits()
    assert pl.String not in reader._validation_hits.schema.values()
