import random
import re

import polars as pl
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

from podium.errors import CorruptFileError
from podium.orchestrator.results.records.metric_columns import known_test_columns
from podium.orchestrator.results.records.trial_schema import TEST_COLUMNS
from podium.orchestrator.results.trial_files import reader as reader_module
from podium.orchestrator.results.trial_files.gather_trials import gather_all
from podium.orchestrator.results.trial_files.parquet_file import sealed
from podium.orchestrator.results.trial_files.reader import Reader
from tests.orchestrator.results.store_frames import (
    LONG,
    all_frames,
    assert_same_frames,
    decisions,
)
from tests.orchestrator.results.store_rows import (
    SCHEMA,
    class_hits,
    commit,
    new_store,
    retrieval,
    row,
    score,
)

TESTED = {
    "test_scores": [score("test", 2, 0.75)],
    "test_class_hits": [class_hits(7)],
    "test_retrievals": [retrieval("a"), retrieval("b")],
}


def test_a_store_without_trials_gives_empty_frames_with_every_column(tmp_path):
    empty = all_frames(new_store(tmp_path / "a"))
    full = all_frames(commit(new_store(tmp_path / "b"), row(0, **TESTED)))
    for name, frame in empty.items():
        assert frame.is_empty()
        assert frame.schema == full[name].schema


def test_trials_are_flat_and_typed(tmp_path):
    trials = all_frames(commit(new_store(tmp_path), row(3, **TESTED)))["trials"]
    nested = ("scores", "class_hits", *(name for name, _ in TEST_COLUMNS))
    assert trials.columns == [name for name in SCHEMA.names if name not in nested]
    types = [trials.schema[f"hp.{name}"] for name in ("margin", "proxies", "easy", "miner")]
    assert types == [pl.Float64, pl.Int64, pl.Boolean, pl.String]
    assert trials["seed"].to_list() == [2**40 + 3]


def test_nested_rows_become_long_tables_beside_the_trials_identifiers(tmp_path):
    values = row(0, fold=4, **TESTED)
    store = commit(new_store(tmp_path), values)
    for name, frame in ((name, all_frames(store)[name]) for name in LONG):
        assert len(frame) == len(values[name])
        assert set(frame["trial_id"]) == {"t000"}
        assert frame["trial_fold"].to_list() == [4] * len(frame)
        inner = values[name]
        assert frame.select(inner[0].keys()).to_dicts() == inner
    assert all_frames(store)["scores"].columns[:6] == [
        *("trial_id", "search", "stage", "block", "dataset", "backbone")
    ]


def test_the_order_is_the_same_whatever_the_files_and_their_order(tmp_path):
    rows = [row(i, stage=stage) for i, stage in enumerate(["final", "search", "baseline"] * 4)]
    one = commit(new_store(tmp_path / "one"), *rows)
    shuffled = random.Random(0).sample(rows, len(rows))
    other = commit(new_store(tmp_path / "other"), *shuffled[:5])
    gather_all(other)
    commit(other, *shuffled[5:9])
    gather_all(other)
    commit(other, *shuffled[9:])
    assert_same_frames(all_frames(one), all_frames(other))
    keys = all_frames(one)["trials"].select("stage", "search", "index").rows()
    assert keys == sorted(keys)


def test_queries_can_be_narrowed_before_they_are_collected(tmp_path):
    store = commit(new_store(tmp_path), *(row(index) for index in range(6)))
    reader = Reader(store.folder)
    found = reader.trials().filter(pl.col("hp.margin") > 0.25).select("trial_id").collect()
    assert sorted(found["trial_id"]) == ["t003", "t004", "t005"]
    best = reader.scores().filter(pl.col("epoch") == pl.col("epoch_selected"))
    assert len(best.collect()) == 6
    assert reader.trials().head(2).collect()["trial_id"].to_list() == ["t000", "t002"]
    assert reader.trials().select(pl.len()).collect().item() == 6


def test_decisions_drop_every_score_that_is_not_of_training_or_validation(tmp_path):
    smuggled = [
        score(role) for role in ("train", "test", "val", "final", "VAL", "validation", "query")
    ]
    store = commit(new_store(tmp_path), row(0, scores=[*smuggled, {**score(), "role": None}]))
    for _ in range(2):
        (scores,) = all_frames(store)["decisions"]["scores"].to_list()
        assert [entry["role"] for entry in scores] == ["train", "val"]
        gather_all(store)


def test_decisions_are_made_without_decoding_a_byte_of_a_test_column(tmp_path):
    store = commit(new_store(tmp_path), row(0, **TESTED))
    path = store.trial("s0", "t000")
    tested = {*TESTED, *known_test_columns(SCHEMA.names)}
    untouched = all_frames(store)["decisions"]
    data = bytearray(path.read_bytes())
    group = pq.read_metadata(path).row_group(0)
    for index in range(group.num_columns):
        chunk = group.column(index)
        if chunk.path_in_schema.split(".")[0] in tested:
            start = chunk.data_page_offset
            data[start : start + chunk.total_compressed_size] = bytes(chunk.total_compressed_size)
    path.write_bytes(sealed(re.sub(rb"(?<=sha256:)[0-9a-f]{64}", b"0" * 64, data))[0])
    assert_frame_equal(decisions(Reader(store.folder)), untouched)
    with pytest.raises(CorruptFileError, match=r"t000\.parquet"):
        Reader(store.folder).test_scores().collect()


@pytest.mark.parametrize(
    "read",
    [
        lambda reader: reader.trials().collect(),
        lambda reader: reader.scores().collect().unique("trial_id"),
        lambda reader: reader.summarise(lambda rows: rows.select("trial_id", "scores")),
    ],
    ids=["frame", "details", "summary"],
)
def test_files_gathered_between_listing_and_reading_are_found_again(tmp_path, monkeypatch, read):
    store = commit(new_store(tmp_path), *(row(index) for index in range(4)))
    real, gathered = reader_module.take_inventory, []

    def then_gather(paths):
        found = real(paths)
        if not gathered:
            gathered.append(gather_all(store))
        return found

    monkeypatch.setattr(reader_module, "take_inventory", then_gather)
    for num_trials in (4, 5):  # loose files vanish first, gathered ones the second time
        found = read(Reader(store.folder))
        assert found["trial_id"].n_unique() == len(found) == num_trials
        gathered.clear()
        commit(store, row(num_trials))


def test_a_summary_is_what_follows_from_the_frames(tmp_path):
    stages = ["search", "final", "baseline"] * 3
    rows = [row(index, stage=stage) for index, stage in enumerate(stages)]
    store = commit(new_store(tmp_path), *rows[:5])
    gather_all(store)
    commit(store, *rows[5:])
    for number, config in enumerate("ab", start=1):
        final = {"stage": "final", "config_hash": config, "selected_from": number}
        commit(store, row(20 + number, search="one", is_winner=True, **final))
    reader, names = Reader(store.folder), ("trial_id", "stage", "hp.margin", "is_winner")
    found = reader.summarise(lambda rows: rows.select(names), with_present_winner=True)
    assert_frame_equal(
        found.sort("trial_id"), reader.trials().select(names).collect().sort("trial_id")
    )
    assert found.filter("is_winner")["trial_id"].to_list() == ["t022"]
    counted = reader.summarise(lambda rows: rows.select(pl.col("scores").list.len().sum()))
    assert counted.item() == len(reader.scores().collect()) > 0


def test_a_frame_shows_the_store_as_it_is_when_it_is_collected(tmp_path):
    store = commit(new_store(tmp_path), row(0))
    trials = Reader(store.folder).trials()
    commit(store, row(1))
    gather_all(store)
    assert len(trials.collect()) == 2


def test_a_wrong_question_is_no_corrupt_file(tmp_path):
    store = commit(new_store(tmp_path), row(0))
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="test_scores"):
        Reader(store.folder).trials().select("test_scores").collect()
    with pytest.raises(pl.exceptions.PolarsError, match="conversion"):
        Reader(store.folder).trials().filter(pl.col("state").cast(pl.Int64) > 0).collect()


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


def heights_read(monkeypatch, column):
    """Fills with the number of rows of every answer that holds a column."""
    collect, heights = Reader._collect, []

    def counted(self, *arguments):
        found = collect(self, *arguments)
        if column in found.columns:
            heights.append(len(found))
        return found

    monkeypatch.setattr(Reader, "_collect", counted)
    return heights


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
