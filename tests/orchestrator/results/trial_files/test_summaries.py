"""What is made of all rows in parts is what follows from the frames of a reader."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from orchestrator.results.trial_files import stored_rows as stored_rows_module
from orchestrator.results.trial_files.gather_trials import gather_all
from orchestrator.results.trial_files.reader import Reader
from podium.errors import CorruptFileError
from tests.orchestrator.results.store_rows import commit, new_store, row


def columns(rows):
    return rows.select("trial_id", "stage", "state", "hp.margin", "test_recall_at_1")


def half_gathered(folder):
    stages = ["search", "final", "baseline"] * 3
    rows = [row(index, stage=stage) for index, stage in enumerate(stages)]
    store = commit(new_store(folder), *rows[:5])
    gather_all(store)
    return commit(store, *rows[5:])


def test_flat_columns_are_those_of_trials_in_any_order(tmp_path):
    reader = Reader(half_gathered(tmp_path).folder)
    found = reader.summarise(columns)

    assert_frame_equal(found.sort("trial_id"), columns(reader.trials()).collect().sort("trial_id"))


def test_nested_rows_are_counted_as_in_the_long_table(tmp_path):
    reader = Reader(half_gathered(tmp_path).folder)
    found = reader.summarise(lambda rows: rows.select(pl.col("scores").list.len().sum()))

    assert found.item() == len(reader.scores().collect()) > 0


def test_whether_a_config_won_is_not_among_them_since_rows_do_not_say_it(tmp_path):
    reader = Reader(half_gathered(tmp_path).folder)
    names = reader.summarise(lambda rows: rows.head(0)).columns

    assert "is_winner" not in names
    assert {"scores", "settings", "test_retrievals"} <= set(names)


def test_which_config_won_is_what_trials_say_where_it_is_asked_for(tmp_path):
    store = half_gathered(tmp_path)
    for number, config in enumerate("ab", start=1):
        final = {"stage": "final", "config_hash": config, "selected_from": number}
        commit(store, row(20 + number, search="one", is_winner=True, **final))
    reader = Reader(store.folder)
    winners = reader.summarise(
        lambda rows: rows.select("trial_id", "is_winner"), with_present_winner=True
    )

    assert_frame_equal(
        winners.sort("trial_id"),
        reader.trials().select("trial_id", "is_winner").collect().sort("trial_id"),
    )
    assert winners.filter("is_winner")["trial_id"].to_list() == ["t022"]


def test_files_that_are_gathered_meanwhile_are_found_again(tmp_path, monkeypatch):
    store = half_gathered(tmp_path)
    real, gathered = stored_rows_module.take_inventory, []

    def then_gather(paths):
        inventory = real(paths)
        if not gathered:
            gathered.append(gather_all(store))
        return inventory

    monkeypatch.setattr(stored_rows_module, "take_inventory", then_gather)
    found = Reader(store.folder).summarise(columns)

    assert gathered == [None]
    assert found["trial_id"].n_unique() == len(found) == 9


def test_a_damaged_file_is_refused_before_its_rows_count(tmp_path):
    store = half_gathered(tmp_path)
    file = next(store.trials.rglob("*.parquet"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)

    with pytest.raises(CorruptFileError, match="does not match its SHA-256"):
        Reader(store.folder).summarise(columns)
