"""Scores of a study or a file, by data set, backbone and dimension."""

import polars as pl
import pytest

from podium.analysis.scores.final_scores import cells, final_scores, final_trials
from podium.analysis.scores.score_grid import every_k_grid, study_grid, table_grid
from podium.analysis.typed_tables.score_table import read_table
from podium.analysis.typed_tables.table_options import TableOptions
from tests.analysis.store_frames import QUERIES, Store
from tests.analysis.thesis_cub200 import BY, RECALLS


def grid_of(*stores):
    trials = pl.concat([store.trials for store in stores])
    scores = pl.concat([store.test_scores for store in stores])
    finals = final_trials(trials)
    return study_grid(cells(finals, final_scores(finals, scores)), trials.collect())


def file_grid(tmp_path, text, **options):
    path = tmp_path / "scores.csv"
    path.write_text(text)
    return table_grid(
        read_table(path, TableOptions(**{"competitor": "loss", "score": "recall", **options}))
    )


def test_winners_and_baselines_are_taken_in_percent_and_defaults_are_not():
    store = Store()
    store.final(16, "a", "tuned", 150, winner=True)
    store.final(16, "a", "published", 100, default=True)
    store.baseline(16, 50)
    store.features(40)
    rows = grid_of(store).at_k(1).rows

    assert dict(rows.select("loss", "score").iter_rows()) == {
        "a": 75.0,
        "features": 20.0,
        "untrained": 25.0,
    }
    assert rows["is_baseline"].to_list() == [False, True, True]
    assert rows["place"].unique().to_list() == ["glyphs"]


def test_the_spread_is_over_seeds_and_one_seed_has_none():
    store = Store()
    for seed, hits in enumerate((140, 150, 160)):
        store.final(16, "a", "c", hits, winner=True, seed=seed)
    store.final(16, "b", "c", 150, winner=True)
    rows = {row["loss"]: row for row in grid_of(store).at_k(1).rows.to_dicts()}

    assert rows["a"]["std"] == pytest.approx(100 * 10 / QUERIES)  # ddof 1
    assert rows["a"]["num_runs"] == 3
    assert rows["b"]["std"] is None


def test_a_cell_in_which_all_failed_has_no_score_and_counts_its_trials():
    store = Store()
    store.final(16, "a", "c", None, winner=True, seed=0)
    store.final(16, "a", "c", None, winner=True, seed=1)
    store.final(16, "b", "c", 100, winner=True)
    failed = grid_of(store).at_k(1).rows.filter(pl.col("loss") == "a")

    assert failed["score"].to_list() == [None]
    assert failed["num_failed"].to_list() == [2]


def test_a_data_set_in_two_image_sizes_has_two_places_and_in_one_size_one():
    small, large = Store(image_size=32), Store(image_size=64)
    for store in (small, large):
        store.final(16, "a", "c", 100, winner=True)

    assert grid_of(small, large).rows["place"].unique().sort().to_list() == [
        "glyphs, 32 px",
        "glyphs, 64 px",
    ]
    assert grid_of(small).rows["place"].unique().to_list() == ["glyphs"]


def test_columns_that_are_neither_backbone_nor_dimension_are_the_place(tmp_path):
    grid = file_grid(tmp_path, "set,epochs,loss,recall\nx,5,a,1\nx,5,b,2\n", by=("set", "epochs"))

    assert grid.rows["place"].unique().to_list() == ["x/5"]
    assert grid.rows["backbone"].is_null().all()
    assert grid.rows["dim"].is_null().all()


def test_dimensions_that_are_no_positive_numbers_are_names(tmp_path):
    for values in (("small", "large"), ("0", "64")):
        text = "loss,dim,recall\n" + "".join(f"a,{value},1\nb,{value},2\n" for value in values)
        grid = file_grid(tmp_path, text, by=("dim",))

        assert grid.rows["dim"].is_null().all()
        assert set(grid.rows["place"]) == set(values)


def test_seeds_of_a_file_are_averaged_with_their_spread(tmp_path):
    lines = [f"x,a,{seed},{fold},{seed + fold}" for seed in (1, 3) for fold in (0, 10)]
    text = "\n".join(["set,loss,seed,fold,recall", *lines, "x,b,1,0,5", ""])
    grid = file_grid(tmp_path, text, by=("set",), average=("seed", "fold"))
    rows = {row["loss"]: row for row in grid.rows.to_dicts()}

    assert grid.run_noun == "seed"
    assert rows["a"]["score"] == 7.0
    assert rows["a"]["std"] == pytest.approx(2**0.5)  # of 6 and 8: folds are averaged before
    assert rows["a"]["num_runs"] == 2
    assert rows["b"]["std"] is None


def test_every_k_of_the_thesis_table_is_there_whichever_was_selected():
    table = read_table(
        RECALLS, TableOptions(by=BY, competitor="loss", score="recall", where=["k=2"])
    )
    published = pl.read_csv(RECALLS)
    found = {
        (row["backbone"], row["dim"], row["loss"], row["k"]): row["score"]
        for row in every_k_grid(table).rows.to_dicts()
    }

    assert table.k == 2
    assert len(found) == published.height == 480
    for row in published.to_dicts():
        key = (row["backbone"], row["embedding_dim"], row["loss"], row["k"])
        assert found[key] == row["recall"]


@pytest.mark.parametrize(
    "text",
    [
        "set,loss,recall\nx,a,1\nx,b,2\n",  # no k
        "set,loss,k,recall\nx,a,1,1\nx,b,1,2\n",  # one k
        "set,loss,k,recall\nx,a,1,1\nx,b,1,2\nx,a,2,3\nx,a,2,4\n",  # which of two at k = 2?
    ],
)
def test_a_file_without_several_clear_k_has_no_grid_of_them(tmp_path, text):
    path = tmp_path / "scores.csv"
    path.write_text(text)
    where = ["k=1"] if ",k," in text else []
    table = read_table(
        path, TableOptions(by=("set",), competitor="loss", score="recall", where=where)
    )

    assert every_k_grid(table) is None
    assert table.k == (1 if where else None)


def test_runs_by_the_column_of_a_study_are_called_seeds(tmp_path):
    text = "dataset,loss,seed_index,recall\nd,a,0,50\nd,a,1,51\nd,b,0,40\nd,b,1,41\n"
    assert file_grid(tmp_path, text, average=("seed_index",)).run_noun == "seed"
