"""A report's reader reads a store once and says what a plain one says."""

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.analysis.scores.cached_reader import CachedReader
from podium.analysis.scores.protocol_runs import runs_of
from podium.orchestrator.results.trial_files.reader import Reader

_K = 1


def test_kept_frames_are_those_of_a_plain_reader(small_store: Path) -> None:
    kept, plain = CachedReader(small_store, k=_K), Reader(small_store)
    is_final = pl.col("stage") == "final"
    is_kept = (pl.col("k") == _K, pl.col("queries") > 0)
    selected = pl.col("epoch") == pl.col("epoch_selected")
    expected = (
        (kept.test_scores(), plain.test_scores()),
        (kept.test_hits(), plain.test_class_hits().filter(pl.col("k") == _K)),
        (kept.final_hits(), plain.class_hits().filter(is_final, selected, *is_kept)),
    )
    for frame, rows in expected:
        found = frame.collect()
        assert found.height
        assert_frame_equal(found, rows.select(found.columns).collect())


def test_the_best_validation_is_that_of_all_epochs(small_store: Path) -> None:
    found = CachedReader(small_store, k=_K).best_validation().collect()
    best: dict[tuple[str, int], float] = {}
    for row in Reader(small_store).scores().collect().to_dicts():
        if (row["role"], row["metric"], row["k"]) == ("val", "recall", _K):
            key = row["trial_id"], row["fold"]
            best[key] = max(row["value"], best.get(key, 0.0))
    assert best
    assert {(row["trial_id"], row["fold"]): row["value"] for row in found.to_dicts()} == best


def test_runs_are_those_of_a_plain_reader(small_store: Path) -> None:
    plain = Reader(small_store)
    trials = plain.trials().collect()
    reader = CachedReader(small_store, k=_K)
    searches, finals = reader.search_runs(trials), reader.final_runs(trials)
    frames = plain.scores(), plain.test_scores()
    is_part = pl.col("train_on") == "part"
    for found, of in (
        (searches, pl.col("stage") == "search"),
        (finals, (pl.col("stage") == "final") & is_part),
    ):
        assert_frame_equal(found, runs_of(trials.filter(of), *frames, metric="recall", k=_K))
    assert min(searches.height, finals.height) > 0


def test_each_table_is_read_once(small_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = CachedReader(small_store, k=_K)
    hits = reader.search_hits(reader.trials().collect())
    (first,) = hits
    frames = (
        *(reader.best_validation, reader.test_scores, reader.test_hits, reader.final_hits),
        reader.attempts,
    )
    kept = [frame().collect() for frame in frames]
    monkeypatch.delattr(Reader, "_rows")
    monkeypatch.delattr(Reader, "summarise")
    monkeypatch.delattr(Reader, "attempts")
    assert next(iter(hits)) is first
    for frame, rows in zip(frames, kept, strict=True):
        assert_frame_equal(frame().collect(), rows)


def test_kept_hits_take_little_memory_for_the_names_of_trials(small_store: Path) -> None:
    reader = CachedReader(small_store, k=_K)
    reader.test_hits()
    assert pl.String not in reader._test_hits.schema.values()
