"""Rankings within parts of the blocks, against tournaments held on those parts alone."""

import numpy as np
import polars as pl
import pytest

from analysis.tournament.subgroups import rank_subgroups
from analysis.tournament.tournament import hold_tournament
from podium.errors import PodiumError
from tests.analysis import thesis_cub200

BY = ("dataset", "backbone")


def random_table(seed, *, holes=0.0):
    """Scores of few values, so that ties are common; some rows missing, some scores NaN."""
    generator = np.random.default_rng(seed)
    rows = [
        {
            "dataset": f"data{d}",
            "backbone": f"net{n}",
            "loss": loss,
            "recall": float("nan") if generator.random() < holes else float(generator.integers(5)),
        }
        for d in range(5)
        for n in range(4)
        for loss in "abcd"
        if generator.random() >= holes
    ]
    return pl.DataFrame(rows)


def subgroups_of(table, factor, by=BY):
    return rank_subgroups(table, factor=factor, by=by, competitor="loss", score="recall")


@pytest.mark.parametrize("holes", [0.0, 0.05])
@pytest.mark.parametrize("seed", range(4))
def test_a_subgroup_is_the_tournament_of_its_rows(seed, holes):
    table = random_table(seed, holes=holes)
    for factor in BY:
        for one in subgroups_of(table, factor):
            part = table.filter(pl.col(factor) == one.value, pl.col("recall").is_not_nan())
            try:
                alone = hold_tournament(part, by=BY, competitor="loss", score="recall")
            except PodiumError:
                assert one.standings == ()
                continue
            assert one.standings == alone.standings
            assert (one.num_blocks, one.num_excluded) == (len(alone.blocks), len(alone.excluded))


def test_the_order_of_the_thesis_changes_with_the_backbone_behind_the_first_place():
    places = {
        one.value: {s.competitor: s.place for s in one.standings}
        for one in subgroups_of(thesis_cub200.recalls(), "backbone", thesis_cub200.BY)
    }
    assert {found["ProxyAnchor"] for found in places.values()} == {1}
    assert [found["SoftTriple"] for found in places.values()] == [2, 5, 2]
    assert [found["MultiSimilarity"] for found in places.values()] == [3, 7, 2]


def test_subgroups_of_k_use_the_scores_of_that_k_alone():
    table = pl.read_csv(thesis_cub200.RECALLS)
    found = subgroups_of(table, "k", (*thesis_cub200.BY, "k"))
    assert [one.value for one in found] == [1, 2, 4, 8]
    totals = {s.competitor: s.total_rank for s in found[0].standings}
    assert totals == thesis_cub200.TOTALS
    assert {one.num_blocks for one in found} == {12}


def test_values_are_in_their_own_order_and_rows_in_any():
    table = random_table(0).with_columns(dim=pl.col("backbone").str.tail(1).cast(pl.Int64) * 64)
    shuffled = table.sample(fraction=1, shuffle=True, seed=1)
    found = subgroups_of(shuffled, "dim")
    assert [one.value for one in found] == [0, 64, 128, 192]
    assert found == subgroups_of(table, "dim")


def test_a_competitor_without_any_row_in_a_subgroup_is_not_ranked_there():
    table = random_table(0).filter((pl.col("loss") != "d") | (pl.col("dataset") != "data0"))
    by_value = {one.value: one for one in subgroups_of(table, "dataset")}
    assert {s.competitor for s in by_value["data0"].standings} == {"a", "b", "c"}
    assert by_value["data0"].num_blocks == 4
    # Across data sets the blocks of data0 lack d.
    assert all(one.num_excluded == 1 for one in subgroups_of(table, "backbone"))


@pytest.mark.parametrize("missing", ["row", "null", "nan"])
def test_data_sets_that_lack_competitors_are_ranked_among_those_they_have(missing):
    """A table as papers print it: one block a data set, with holes; ours is 1st, 3rd and 2nd."""
    scores = {
        "cars": {"ours": 90.0, "b": 80.0, "c": None, "d": 70.0},
        "birds": {"ours": 50.0, "b": 60.0, "c": 70.0, "d": None},
        "shops": {"ours": 70.0, "b": None, "c": None, "d": 75.0},
    }
    gap = float("nan") if missing == "nan" else None
    rows = [
        {"dataset": name, "loss": loss, "recall": gap if score is None else score}
        for name, row in scores.items()
        for loss, score in row.items()
        if score is not None or missing != "row"
    ]
    found = {one.value: one for one in subgroups_of(pl.DataFrame(rows), "dataset", ("dataset",))}
    places = {
        name: next(s.place for s in one.standings if s.competitor == "ours")
        for name, one in found.items()
    }
    assert places == {"birds": 3, "cars": 1, "shops": 2}
    assert {name: len(one.standings) for name, one in found.items()} == {
        "birds": 3,
        "cars": 3,
        "shops": 2,
    }


def test_a_part_without_any_score_is_empty():
    table = random_table(0).with_columns(
        recall=pl.when(pl.col("dataset") != "data0").then(pl.col("recall"))
    )
    empty = subgroups_of(table, "dataset")[0]
    assert (empty.value, empty.standings, empty.num_blocks) == ("data0", (), 0)


def test_a_subgroup_of_one_block_has_ranks_and_no_spread():
    table = random_table(0).filter(pl.col("backbone") == "net0")
    for one in subgroups_of(table, "dataset"):
        assert one.num_blocks == 1
        assert {s.rank_std for s in one.standings} == {None}


def test_two_scores_of_one_competitor_are_refused():
    table = random_table(0)
    with pytest.raises(PodiumError, match="holds 2 of"):
        subgroups_of(pl.concat([table, table.head(1)]), "backbone")
