"""Rankings within parts of the blocks, against tournaments held on those parts alone."""

import numpy as np
import polars as pl
import pytest

from analysis.slices import slices_of
from analysis.tournament import hold_tournament
from orchestrator.results.errors import PodiumError
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


def slices(table, factor, by=BY):
    return slices_of(table, factor=factor, by=by, competitor="loss", score="recall")


@pytest.mark.parametrize("holes", [0.0, 0.05])
@pytest.mark.parametrize("seed", range(4))
def test_a_slice_is_the_tournament_of_its_rows(seed, holes):
    table = random_table(seed, holes=holes)
    for factor in BY:
        for one in slices(table, factor):
            part = table.filter(pl.col(factor) == one.value)
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
        for one in slices(thesis_cub200.recalls(), "backbone", thesis_cub200.BY)
    }
    assert {found["ProxyAnchor"] for found in places.values()} == {1}
    assert [found["SoftTriple"] for found in places.values()] == [2, 5, 2]
    assert [found["MultiSimilarity"] for found in places.values()] == [3, 7, 2]


def test_slices_of_k_use_the_scores_of_that_k_alone():
    table = pl.read_csv(thesis_cub200.RECALLS)
    found = slices(table, "k", (*thesis_cub200.BY, "k"))
    assert [one.value for one in found] == [1, 2, 4, 8]
    totals = {s.competitor: s.total_rank for s in found[0].standings}
    assert totals == thesis_cub200.TOTALS
    assert {one.num_blocks for one in found} == {12}


def test_values_are_in_their_own_order_and_rows_in_any():
    table = random_table(0).with_columns(dim=pl.col("backbone").str.tail(1).cast(pl.Int64) * 64)
    shuffled = table.sample(fraction=1, shuffle=True, seed=1)
    found = slices(shuffled, "dim")
    assert [one.value for one in found] == [0, 64, 128, 192]
    assert found == slices(table, "dim")


def test_a_competitor_without_any_row_in_a_slice_is_not_ranked_there():
    table = random_table(0).filter((pl.col("loss") != "d") | (pl.col("dataset") != "data0"))
    by_value = {one.value: one for one in slices(table, "dataset")}
    assert {s.competitor for s in by_value["data0"].standings} == {"a", "b", "c"}
    assert by_value["data0"].num_blocks == 4
    # Across data sets the blocks of data0 lack d.
    assert all(one.num_excluded == 1 for one in slices(table, "backbone"))


def test_a_slice_of_one_block_has_ranks_and_no_spread():
    table = random_table(0).filter(pl.col("backbone") == "net0")
    for one in slices(table, "dataset"):
        assert one.num_blocks == 1
        assert {s.rank_std for s in one.standings} == {None}


def test_two_scores_of_one_competitor_are_refused():
    table = random_table(0)
    with pytest.raises(PodiumError, match="holds 2 of"):
        slices(pl.concat([table, table.head(1)]), "backbone")
