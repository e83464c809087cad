"""Tables in the layout of the thesis: every value at its place, the best of each column bold."""

import polars as pl
import pytest

from podium.analysis.figures.series import series_of
from podium.analysis.report.score_tables import Scale, block_tables, k_tables, widest
from podium.analysis.scores.score_grid import ScoreGrid, table_grid
from tests.analysis import thesis_cub200
from tests.analysis.thesis_cub200 import RECALLS

OTHER_NETWORK = {"loss": "a", "place": "y", "backbone": "other", "dim": 32.0}
PLACE = {"place": "x", "backbone": "net", "dim": 16.0, "k": 1}
SCHEMA = {"place": pl.String, "backbone": pl.String, "dim": pl.Float64, "k": pl.Int64}


def grid(*rows):
    full = [
        {
            **PLACE,
            "score": 50.0,
            "std": None,
            "num_runs": 1,
            "num_failed": 0,
            "is_baseline": row["loss"] == "untrained",
            **row,
        }
        for row in rows
    ]
    return ScoreGrid(rows=pl.DataFrame(full, schema_overrides=SCHEMA), run_noun="seed")


def scale(**values):
    return Scale(**{"word": "recall in %", "heads": {1: "R@1", 2: "R@2"}, **values})


def tables(a_grid, make=block_tables, **values):
    return make(a_grid, series_of(a_grid.rows["loss"]), scale(**values), name="recall")


def texts(table):
    return {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}


@pytest.fixture(scope="module")
def thesis_score_table():
    table = thesis_cub200.score_table()
    (found,) = tables(table_grid(table))
    return found


def test_the_thesis_table_has_dimensions_under_backbones(thesis_score_table):
    dims = ["64", "128", "512", "1024"]

    assert thesis_score_table.groups == (
        ("", 1),
        ("BNInception", 4),
        ("GoogLeNet", 4),
        ("ResNet50", 4),
    )
    assert [column.label for column in thesis_score_table.columns] == ["Loss", *dims, *dims, *dims]


def test_the_thesis_table_has_every_published_value_at_its_place(thesis_score_table):
    published = pl.read_csv(RECALLS).filter(pl.col("k") == 1)
    heads = [(column.group, column.label) for column in thesis_score_table.columns[1:]]
    shown = {
        (row[0].text, *head): cell.text
        for row in thesis_score_table.rows
        for head, cell in zip(heads, row[1:], strict=True)
    }

    assert len(shown) == 120
    for row in published.to_dicts():
        key = (row["loss"], row["backbone"], str(row["embedding_dim"]))
        assert shown[key] == f"{row['recall']:.2f}"


def test_all_losses_that_tie_for_the_best_are_bold():
    (table,) = tables(grid({"loss": "a"}, {"loss": "b"}, {"loss": "c", "score": 49.0}))

    assert [row[1].is_best for row in table.rows] == [True, True, False]


def test_the_untrained_network_is_last_and_never_best():
    rows = [{"loss": "untrained", "score": 90.0}, {"loss": "z", "score": 10.0}]
    (table,) = tables(grid(*rows))

    assert [row[0].text for row in table.rows] == ["z", "untrained"]
    assert [row[1].is_best for row in table.rows] == [True, False]


def test_of_distances_the_smallest_is_best():
    rows = [{"loss": "a", "score": 0.2}, {"loss": "b", "score": 0.1}]
    (table,) = tables(grid(*rows), is_larger_better=False, digits=4)

    assert texts(table) == {"a": ["0.2000"], "b": ["0.1000"]}
    assert [row[1].is_best for row in table.rows] == [False, True]


def test_missing_and_failed_cells_are_distinguished_and_counted():
    failed = {"score": None, "num_runs": 0, "num_failed": 3}
    (table,) = tables(
        grid({"loss": "a"}, {"loss": "b", **failed}, {"loss": "a", "dim": 32.0}, {"loss": "c"})
    )

    assert texts(table) == {"a": ["50.00", "50.00"], "b": ["failed", "–"], "c": ["50.00", "–"]}
    assert table.note == "2 cells missing (–) and 1 cell in which every trial failed."
    assert table.rows[1][1].order is None


def test_spreads_and_partial_failures_stand_below_the_score():
    (table,) = tables(
        grid(
            {"loss": "a", "std": 0.5, "num_runs": 3}, {"loss": "b", "num_runs": 2, "num_failed": 1}
        )
    )

    assert [row[1].detail for row in table.rows] == ["± 0.50", "1 failed"]
    assert table.caption.endswith("Mean of 2 to 3 seeds and their sample standard deviation.")


def test_few_data_sets_and_networks_share_one_table():
    rows = [
        {"loss": loss, "place": place, "dim": dim}
        for loss in "ab"
        for place in "xy"
        for dim in (16.0, 32.0)
    ]
    (table,) = tables(grid(*rows))

    assert table.groups == (("", 1), ("x, net", 2), ("y, net", 2))
    assert [column.label for column in table.columns] == ["Loss", "16", "32", "16", "32"]


def test_each_of_many_data_sets_has_a_table_with_its_own_best():
    dims = [{"loss": "a", "place": "y", "dim": float(dim)} for dim in range(17, 24)]
    found = tables(
        grid(
            {"loss": "a", "place": "x"},
            {"loss": "b", "place": "x", "score": 60.0},
            {"loss": "a", "place": "y"},
            {"loss": "b", "place": "y", "score": 40.0},
            *dims,
        )
    )

    assert [table.name for table in found] == ["recall-0", "recall-1"]
    assert [table.caption[0] for table in found] == ["x", "y"]
    assert [[row[1].is_best for row in table.rows] for table in found] == [
        [False, True],
        [True, False],
    ]


def test_of_one_network_data_sets_are_the_columns_of_one_table():
    (table,) = tables(grid({"loss": "a", "place": "y"}, {"loss": "a", "place": "x"}))

    assert table.groups == (("", 1), ("net, 16 dimensions", 2))
    assert [column.label for column in table.columns] == ["Loss", "x", "y"]


@pytest.mark.parametrize(
    ("missing", "groups", "labels"),
    [
        ({"backbone": None}, ["x", "y"], ["16", "32"]),
        ({"dim": None}, ["x", "y"], ["net", "other"]),
        ({"dim": None, "backbone": None}, [], ["x", "y"]),
    ],
)
def test_without_backbones_or_dimensions_columns_are_what_there_is(missing, groups, labels):
    other = {**OTHER_NETWORK, **missing}
    (table,) = tables(grid({"loss": "a", **missing}, other))

    assert [group for group, _ in table.groups if group] == groups
    assert [column.label for column in table.columns[1:]] == labels
    assert widest([table]) == len(labels)


def test_every_k_is_shown_under_its_dimension_in_the_order_of_the_study():
    rows = [
        {"loss": "a", "dim": dim, "k": k, "score": 10 * k + dim}
        for dim in (128.0, 64.0)
        for k in (1, 2)
    ]
    (table,) = tables(grid(*rows), k_tables, heads={2: "R@2", 1: "R@1"})

    assert table.groups == (("", 1), ("64 dimensions", 2), ("128 dimensions", 2))
    assert [column.label for column in table.columns[1:]] == ["R@2", "R@1", "R@2", "R@1"]
    assert texts(table) == {"a": ["84.00", "74.00", "148.00", "138.00"]}
    assert table.caption.startswith("x, net: ")
