"""Published tournaments: that of the thesis, and random right ones with one number changed."""

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

import numpy as np
import polars as pl
import pytest

from analysis.audit.published_rank_table import rank_columns, rank_table
from analysis.audit.rank_totals import audit_tournament
from analysis.tournament.tournament import hold_tournament
from podium.errors import PodiumError
from tests.analysis import thesis_cub200
from tests.analysis.audit.findings import distinct_findings

PUBLISHED = thesis_cub200.DATA / "thesis_tournament_published.csv"


def thesis_rank_table():
    frame = pl.read_csv(PUBLISHED, infer_schema=False)
    return rank_table(frame, competitor="loss", source="published.csv")


@pytest.mark.parametrize("recomputed", [None, thesis_cub200.tournament()], ids=["alone", "scores"])
def test_the_table_of_the_thesis_holds_exactly_three_mistakes(recomputed):
    audit = audit_tournament(thesis_rank_table(), recomputed=recomputed)
    assert distinct_findings(audit) == {
        ("average", "Triplet, average_rank"),
        ("truncated", "SoftTriple, average_rank"),
        ("sd", "LiftedStructure, rank_std"),
    }
    messages = {found.where.split(",")[0]: found.message for found in audit.findings}
    assert messages["Triplet"].startswith("printed 8.85, should be 8.58: 103 / 12 = 8.5833")
    assert "two digits swapped" in messages["Triplet"]
    assert messages["SoftTriple"].startswith("printed 3.16, should be 3.17: 38 / 12 = 3.1667")
    assert messages["LiftedStructure"].startswith("printed 1.89, should be 1.88: ")
    assert "1.8829" in messages["LiftedStructure"]


def test_friedman_and_nemenyi_come_from_the_totals_alone():
    notes = {note.kind: note.message for note in audit_tournament(thesis_rank_table()).notes}
    assert notes["blocks"].endswith("12 blocks")
    assert "81.455" in notes["verdict"]
    assert "3.910" in notes["verdict"]
    assert "14 of 45" in notes["verdict"]
    assert "is unknown" in notes["ties"]
    assert "are sample standard deviations" in notes["ddof"]


def rounded_text(value, rule):
    return str(Decimal(repr(value)).quantize(Decimal("0.01"), rounding=rule))


def right_table(seed, *, ddof=1, rule=ROUND_HALF_UP):
    """Text cells of a right table, its scores, and the tournament of them."""
    rng = np.random.default_rng(seed)
    blocks, losses = int(rng.integers(5, 20)), int(rng.integers(3, 12))
    scores_BC = rng.normal(size=(blocks, losses)) + rng.normal(size=losses)
    long = pl.DataFrame(
        {
            "block": np.repeat(np.arange(blocks), losses),
            "loss": [f"loss{c}" for c in range(losses)] * blocks,
            "recall": scores_BC.ravel(),
        }
    )
    held = hold_tournament(long, by=("block",), competitor="loss", score="recall")
    rows = [
        {
            "loss": standing.competitor,
            "total": str(int(standing.total_rank)),
            "average": rounded_text(standing.average_rank, rule),
            "sd": rounded_text(float(np.std(held.ranks_BC[:, c], ddof=ddof)), rule),
        }
        for c, standing in enumerate(held.standings)
    ]
    return pl.DataFrame(rows), held


def audited(frame, **options):
    return audit_tournament(rank_table(frame, competitor="loss", source="t.csv"), **options)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("rule", [ROUND_HALF_UP, ROUND_HALF_EVEN])
def test_a_right_table_has_no_finding(seed, rule):
    frame, held = right_table(seed, rule=rule)
    assert audited(frame).findings == ()
    assert audited(frame, recomputed=held).findings == ()


@pytest.mark.parametrize("seed", range(12))
def test_the_number_of_blocks_is_found(seed):
    frame, held = right_table(seed)
    notes = [note.message for note in audited(frame).notes if note.kind == "blocks"]
    assert notes == [f"the totals and averages agree on {len(held.blocks)} blocks"]


@pytest.mark.parametrize("seed", range(6))
def test_a_table_of_population_deviations_is_reported_once(seed):
    frame, held = right_table(seed, ddof=0)
    assert distinct_findings(audited(frame, recomputed=held)) == {("ddof", "sd")}


@pytest.mark.parametrize("seed", range(6))
def test_one_population_deviation_is_reported_in_its_row(seed):
    frame, held = right_table(seed)
    zero, _ = right_table(seed, ddof=0)
    row = int(np.argmax(frame["sd"].cast(float).to_numpy() - zero["sd"].cast(float).to_numpy()))
    cells = frame["sd"].to_list()
    cells[row] = zero["sd"][row]
    mixed = frame.with_columns(pl.Series("sd", cells))
    assert distinct_findings(audited(mixed, recomputed=held)) == {
        ("ddof", f"{frame['loss'][row]}, sd")
    }


@pytest.mark.parametrize("seed", range(6))
def test_a_wrong_total_shows_in_the_sum_and_the_average_says_which(seed):
    frame, held = right_table(seed)
    cells = frame["total"].to_list()
    cells[1] = str(int(cells[1]) + 2)
    wrong = frame.with_columns(pl.Series("total", cells))
    alone = audited(wrong, blocks=len(held.blocks))
    assert ("total", "total") in distinct_findings(alone)
    (of_sum,) = [found.message for found in alone.findings if found.kind == "total"]
    assert f"for {frame['loss'][1]} they would" in of_sum
    assert ("total", f"{frame['loss'][1]}, total") in distinct_findings(
        audited(wrong, recomputed=held)
    )


def test_averages_alone_have_to_add_up():
    frame, _ = right_table(3)
    averages = frame.select("loss", "average")
    assert audited(averages).findings == ()
    cells = averages["average"].to_list()
    cells[0] = "2.90" if cells[0] != "2.90" else "1.00"
    wrong = averages.with_columns(pl.Series("average", cells))
    assert distinct_findings(audited(wrong)) == {("average", "average")}


def test_impossible_ranks_are_reported():
    frame = pl.DataFrame(
        {
            "loss": ["a", "b", "c"],
            "total": ["3", "13.25", "99"],
            "average": ["0.60", "2.65", "19.80"],
        }
    )
    kinds = distinct_findings(audited(frame, blocks=5))
    assert ("impossible", "b, total") in kinds
    assert ("impossible", "c, total") in kinds
    assert ("impossible", "a, average") in kinds
    assert ("impossible", "c, average") in kinds


def test_missing_cells_and_repeated_rows_are_reported():
    frame = pl.DataFrame(
        {
            "loss": ["a", "b", "b", "c"],
            "total": ["12", "24", "24", None],
            "average": ["1.00", "2.00", "2.00", "3.00"],
        }
    )
    assert {("duplicate", "b"), ("missing", "c, total")} <= distinct_findings(audited(frame))


def test_competitors_of_one_table_only_are_reported():
    frame, held = right_table(0)
    renamed = frame.with_columns(pl.col("loss").replace({"loss0": "else"}))
    found = distinct_findings(audited(renamed, recomputed=held))
    assert {("missing", "else"), ("missing", "loss0")} <= found


def test_columns_go_by_many_names():
    assert rank_columns(["Loss", "Rank sum", "Mean rank", "SD"]) == {
        "total": "Rank sum",
        "average": "Mean rank",
        "sd": "SD",
    }


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"method": ["a"], "total": ["1"]}, "no column 'loss'"),
        ({"loss": ["a", "b"], "note": ["x", "y"]}, "neither rank totals nor average ranks"),
        ({"loss": ["a"], "total": ["1"]}, "at least two competitors"),
        ({"loss": ["a", None], "total": ["1", "2"]}, "empty in row 2"),
        ({"loss": ["a", "b"], "total": ["1", "two"]}, "row 2 holds 'two'"),
    ],
)
def test_a_table_that_is_no_tournament_is_refused(columns, message):
    with pytest.raises(PodiumError, match=message):
        audited(pl.DataFrame(columns))
