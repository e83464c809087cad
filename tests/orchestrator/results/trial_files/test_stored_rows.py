"""What is read from the disk for a frame, and in how many parts."""

import random

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.orchestrator.results.trial_files.gather_trials import gather_all
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.results.trial_files.stored_rows import StoredRows
from tests.orchestrator.results.store_frames import LONG
from tests.orchestrator.results.store_rows import class_hits, commit, new_store, row, score


@pytest.fixture
def half_gathered(tmp_path):
    """Half gathered, half loose; some trials without details."""
    rows = [
        row(
            index,
            stage="final" if index % 3 else "search",
            scores=[score("val", epoch, 0.1 * epoch) for epoch in range(index % 4)],
            test_scores=[score("test", 1, 0.01 * index)] if index % 2 else [],
            class_hits=[class_hits(number) for number in range(index % 3)],
        )
        for index in range(11)
    ]
    random.Random(3).shuffle(rows)
    store = commit(new_store(tmp_path), *rows[:6])
    gather_all(store)
    return commit(store, *rows[6:])


def test_no_more_rows_with_details_are_read_at_once_than_a_search_has(half_gathered, monkeypatch):
    whole = Reader(half_gathered.folder).scores().collect()
    heights = heights_read(monkeypatch, "scores")
    assert_frame_equal(Reader(half_gathered.folder).scores().collect(engine="streaming"), whole)
    assert max(heights) < 11
    assert sum(heights) == 11, "each trial once"


def test_of_details_of_few_trials_no_other_trials_are_read(half_gathered, monkeypatch):
    heights = heights_read(monkeypatch, "test_scores")
    found = Reader(half_gathered.folder).test_scores().collect()
    tested = found["trial_id"].n_unique()
    assert sum(heights) == tested == 5


def heights_read(monkeypatch, column):
    """Fills with the number of rows of every answer that holds a column."""
    collect, heights = StoredRows.collect, []

    def counted(self, *arguments):
        found = collect(self, *arguments)
        if column in found.columns:
            heights.append(len(found))
        return found

    monkeypatch.setattr(StoredRows, "collect", counted)
    return heights


def test_a_filter_on_trials_keeps_details_of_others_on_the_disk(half_gathered, monkeypatch):
    heights = heights_read(monkeypatch, "scores")
    found = Reader(half_gathered.folder).scores().filter(pl.col("stage") == "search").collect()
    assert found["trial_id"].n_unique() == 3, "one of the four has no scores"
    assert sum(heights) == 4


@pytest.mark.parametrize("name", LONG)
def test_a_long_table_reads_its_own_details_only(half_gathered, monkeypatch, name):
    heights = {other: heights_read(monkeypatch, other) for other in LONG}
    getattr(Reader(half_gathered.folder), name)().select("trial_id").collect()
    assert [other for other, found in heights.items() if found] == [name]


def test_a_filter_on_the_present_winner_applies_after_it_is_known(tmp_path):
    old = row(0, search="one", stage="final", is_winner=True, selected_from=3, config_hash="a")
    new = row(1, search="one", stage="final", is_winner=True, selected_from=6, config_hash="b")
    reader = Reader(commit(new_store(tmp_path), old, new).folder)
    for frame in (reader.trials(), reader.scores()):
        assert set(frame.filter("is_winner").collect()["config_hash"]) == {"b"}
        lost = frame.filter(~pl.col("is_winner")).collect()
        assert set(lost["config_hash"]) == {"a"}


def test_a_tested_default_is_no_winner_while_a_better_config_has_no_finals(tmp_path):
    default = {"search": "one", "config_hash": "default", "is_default": True}
    best = {"search": "one", "config_hash": "best"}
    rows = (
        row(0, stage="search", objective=0.2, index=0, **default),
        row(1, stage="search", objective=0.9, index=1, **best),
        row(2, stage="final", is_winner=False, selected_from=2, **default),
    )
    reader = Reader(commit(new_store(tmp_path), *rows).folder)
    assert reader.trials().filter("is_winner").collect().is_empty()
