"""Tables of scores, right and with one thing wrong each."""

import polars as pl
import pytest

from analysis.audit.score_rows import audit_scores
from podium.errors import PodiumError
from tests.analysis import thesis_cub200
from tests.analysis.audit.findings import ordered_findings

KEYS = {"by": thesis_cub200.BY, "competitor": "loss", "score": "recall"}


def thesis_scores():
    return pl.read_csv(thesis_cub200.RECALLS).with_columns(pl.col("recall").cast(pl.Float64))


def test_the_scores_of_the_thesis_are_right_and_their_ties_are_counted():
    audited = audit_scores(thesis_scores(), **KEYS)
    assert audited.audit.findings == ()
    ties = {n.where: n.message for n in audited.audit.notes if n.kind == "ties"}
    assert ties["R@1"].startswith("no block")
    assert ties["R@2"].startswith("1 of 12 blocks")
    assert ties["R@8"].startswith("3 of 12 blocks")
    stability = " ".join(n.message for n in audited.audit.notes if n.kind == "stability")
    assert "leaving out one of 3 groups gives the third rank to Contrastive 1 times," in stability
    assert "resampling the 3 groups of blocks with one data set and backbone" in stability
    assert "(too few for an interval)" in stability


def thesis_scores_with(loss, k, value):
    row = (
        (pl.col("loss") == loss)
        & (pl.col("k") == k)
        & (pl.col("backbone") == "ResNet50")
        & (pl.col("embedding_dim") == 64)
    )
    return thesis_scores().with_columns(
        pl.when(row).then(pl.lit(value, pl.Float64)).otherwise("recall").alias("recall")
    )


def test_a_row_whose_recall_falls_with_k_is_named():
    (found,) = audit_scores(thesis_scores_with("Triplet", 8, 1.5), **KEYS).audit.findings
    assert found.kind == "impossible"
    assert found.where == "CUB200-2011/ResNet50/64/Triplet, k = 8"
    assert "R@8 = 1.5 after R@4" in found.message


def test_recalls_beyond_100_are_named():
    found = ordered_findings(audit_scores(thesis_scores_with("Triplet", 8, 188.1), **KEYS).audit)
    assert found == [("impossible", "CUB200-2011/ResNet50/64/Triplet, k = 8")]


def test_recalls_as_shares_end_at_1():
    shares = thesis_scores_with("Triplet", 8, 101.0).with_columns(pl.col("recall") / 100)
    (found,) = audit_scores(shares, **KEYS).audit.findings
    assert "within 0 and 1" in found.message


def test_other_scores_have_no_range():
    frame = pl.DataFrame({"block": [1, 1], "loss": ["a", "b"], "points": [250.0, -3.0]})
    audited = audit_scores(frame, by=("block",), competitor="loss", score="points")
    assert audited.audit.findings == ()


def test_missing_rows_and_scores_are_named():
    frame = thesis_scores_with("Triplet", 1, None).filter(
        (pl.col("loss") != "Margin")
        | (pl.col("k") != 2)
        | (pl.col("backbone") != "BNInception")
        | (pl.col("embedding_dim") != 64)
    )
    lost = len(thesis_scores()) - len(frame)
    found = audit_scores(frame, **KEYS).audit.findings
    assert [f.kind for f in found] == ["missing"] * (1 + lost)
    assert ("missing", "CUB200-2011/ResNet50/64/Triplet, k = 1") in ordered_findings(
        audit_scores(frame, **KEYS).audit
    )


def test_a_duplicated_row_is_named_and_its_cell_left_out_of_the_ranking():
    frame = thesis_scores()
    twice = pl.concat([frame, frame.head(1).with_columns(pl.col("recall") + 1)])
    audited = audit_scores(twice, **KEYS)
    (found,) = [f for f in audited.audit.findings if f.kind == "duplicate"]
    assert found.where == "CUB200-2011/ResNet50/64/Contrastive, k = 1"
    assert found.message == "has 2 rows with the scores 60.28, 61.28"
    assert audited.tournament is not None
    assert len(audited.tournament.blocks) == 11


def small_table(*rows):
    """Scores by data set, loss and K."""
    return pl.DataFrame(
        rows,
        schema={"dataset": pl.String, "loss": pl.String, "k": pl.Int64, "recall": pl.Float64},
        orient="row",
    )


def audited(frame):
    return audit_scores(frame, by=("dataset",), competitor="loss", score="recall").audit


def rows_of(dataset, ks, base):
    return [(dataset, loss, k, base[loss] + i) for loss in base for i, k in enumerate(ks)]


def test_a_duplicated_row_hides_no_falling_recall_elsewhere_nor_in_its_own_row():
    rows = rows_of("cars", (1, 2, 4), {"a": 70.0, "b": 73.5})
    rows[2] = ("cars", "a", 4, 1.5)
    assert ordered_findings(audited(small_table(*rows, rows[-1]))) == [
        ("impossible", "cars/a, k = 4"),
        ("duplicate", "cars/b, k = 4"),
    ]
    assert ordered_findings(audited(small_table(*rows, ("cars", "a", 2, 71.5)))) == [
        ("impossible", "cars/a, k = 4"),
        ("duplicate", "cars/a, k = 2"),
    ]


def test_each_data_set_has_k_of_its_own():
    frame = small_table(
        *rows_of("cars", (1, 2, 4), {"a": 70.0, "b": 73.5}),
        *rows_of("sop", (1, 10, 100), {"a": 60.0, "b": 64.5}),
    )
    assert audited(frame).findings == ()
    lacking = frame.filter((pl.col("loss") != "a") | (pl.col("k") != 100))
    assert [(f.kind, f.where) for f in audited(lacking).findings] == [
        ("missing", "sop/a, k = 100")
    ]


def test_a_k_that_one_row_alone_has_is_noted_once_and_the_gap_it_left_is_found():
    rows = rows_of("cars", (1, 2, 4), {"a": 70.0, "b": 73.5, "c": 75.5})
    rows[1] = ("cars", "a", 3, 71.0)
    found = audited(small_table(*rows))
    assert [(f.kind, f.where) for f in found.findings] == [("missing", "cars/a, k = 2")]
    assert ("k", "cars, k = 3") in {(note.kind, note.where) for note in found.notes}


def test_a_loss_that_was_never_run_on_a_data_set_is_noted_not_found():
    frame = small_table(
        *rows_of("cars", (1, 2), {"a": 70.0, "b": 73.5, "c": 76.0}),
        *rows_of("sop", (1, 10), {"a": 60.0, "b": 64.5}),
        ("sop", "c", 1, None),
        ("sop", "c", 10, None),
    )
    found = audited(frame)
    assert found.findings == ()
    assert [(n.where, n.message) for n in found.notes if n.kind == "missing"] == [
        ("c", "has no score on sop")
    ]


def test_a_loss_without_any_score_is_left_out_and_the_others_are_ranked():
    frame = small_table(
        *rows_of("cars", (1, 2), {"a": 70.0, "b": 73.5}),
        *rows_of("sop", (1, 2), {"a": 60.0, "b": 64.5}),
        *((dataset, "c", k, None) for dataset in ("cars", "sop") for k in (1, 2)),
    )
    result = audit_scores(frame, by=("dataset",), competitor="loss", score="recall")
    assert result.tournament is not None
    assert result.tournament.names == ("b", "a")
    assert [n.message for n in result.audit.notes if n.kind == "missing"] == [
        "has no score at all and is left out of the ranking"
    ]


@pytest.mark.parametrize(
    ("rows", "notes"),
    [
        (
            rows_of("cars", (1, 2), {"a": 70.0, "b": 70.0, "c": 75.0}),
            [("cars/b", "equals a at all 2 K: a copy?")],
        ),
        (
            [*rows_of("cars", (1, 2, 4), {"a": 70.0}), *rows_of("sop", (1, 2, 4), {"a": 70.0})],
            [("sop/a", "equals cars/a at all 3 K: a copy?")],
        ),
        ([*rows_of("cars", (1, 2), {"a": 70.0}), *rows_of("sop", (1, 2), {"a": 70.0})], []),
        ([("cars", "a", 1, 70.0), ("cars", "b", 1, 70.0)], []),
    ],
)
def test_rows_that_are_equal_at_every_k_are_noted(rows, notes):
    found = audited(small_table(*rows))
    assert [(n.where, n.message) for n in found.notes if n.kind == "equal"] == notes


def test_without_k_losses_that_are_equal_in_every_block_are_noted():
    equal = {"a": 1.0, "b": 1.0}
    frame = small_table(*rows_of("u", (1,), equal), *rows_of("v", (1,), equal)).drop("k")
    noted = [(note.where, note.message) for note in audited(frame).notes]
    assert ("b", "equals a in all 2 blocks: a copy?") in noted


def test_rows_that_differ_in_a_column_are_no_duplicates():
    seeds = pl.concat(
        [thesis_scores().with_columns(pl.lit(seed).alias("seed")) for seed in (1, 2)]
    )
    with pytest.raises(PodiumError, match="seed"):
        audit_scores(seeds, **KEYS)
    averaged = audit_scores(seeds, average=("seed",), **KEYS)
    assert averaged.audit.findings == ()
    totals = {s.competitor: s.total_rank for s in averaged.tournament.standings}
    assert totals == thesis_cub200.TOTALS


def test_the_order_of_rows_does_not_matter():
    frame = thesis_scores_with("Triplet", 8, 1.5)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=3)
    assert audit_scores(frame, **KEYS).audit == audit_scores(shuffled, **KEYS).audit


def test_no_tournament_is_a_note_not_an_error():
    frame = pl.DataFrame({"block": [1, 2], "loss": ["a", "a"], "recall": [50.0, 60.0]})
    audited = audit_scores(frame, by=("block",), competitor="loss", score="recall")
    assert audited.tournament is None
    assert "at least two competitors" in audited.audit.notes[-1].message
