"""Tables of scores, ranks and folds, right and with one thing wrong each."""

import numpy as np
import polars as pl
import pytest
import scipy.stats

from analysis.audit.audited_folds import Claim, audit_folds, parse_claim
from analysis.audit.audited_ranks import audit_ranks
from analysis.audit.audited_scores import audit_scores
from analysis.typed_tables.printed_numbers import printed_column
from orchestrator.results.errors import PodiumError
from tests.analysis import thesis_cub200

KEYS = {"by": thesis_cub200.BY, "competitor": "loss", "score": "recall"}


def thesis():
    return pl.read_csv(thesis_cub200.RECALLS).with_columns(pl.col("recall").cast(pl.Float64))


def short(audit):
    return [(found.kind, found.where) for found in audit.findings]


def test_the_scores_of_the_thesis_are_right_and_their_ties_are_counted():
    audited = audit_scores(thesis(), **KEYS)
    assert audited.audit.findings == ()
    ties = {n.where: n.message for n in audited.audit.notes if n.kind == "ties"}
    assert ties["R@1"].startswith("no block")
    assert ties["R@2"].startswith("1 of 12 blocks")
    assert ties["R@8"].startswith("3 of 12 blocks")
    stability = " ".join(n.message for n in audited.audit.notes if n.kind == "stability")
    assert "Contrastive 5 times, MultiSimilarity 5 times and LiftedStructure 2 times" in stability


def changed(loss, k, value):
    row = (
        (pl.col("loss") == loss)
        & (pl.col("k") == k)
        & (pl.col("backbone") == "ResNet50")
        & (pl.col("embedding_dim") == 64)
    )
    return thesis().with_columns(
        pl.when(row).then(pl.lit(value, pl.Float64)).otherwise("recall").alias("recall")
    )


def test_a_row_whose_recall_falls_with_k_is_named():
    (found,) = audit_scores(changed("Triplet", 8, 1.5), **KEYS).audit.findings
    assert found.kind == "impossible"
    assert found.where == "CUB200-2011/ResNet50/64/Triplet, k = 8"
    assert "R@8 = 1.5 after R@4" in found.message


def test_recalls_beyond_100_are_named():
    found = short(audit_scores(changed("Triplet", 8, 188.1), **KEYS).audit)
    assert found == [("impossible", "CUB200-2011/ResNet50/64/Triplet, k = 8")]


def test_recalls_as_shares_end_at_1():
    shares = changed("Triplet", 8, 101.0).with_columns(pl.col("recall") / 100)
    (found,) = audit_scores(shares, **KEYS).audit.findings
    assert "within 0 and 1" in found.message


def test_other_scores_have_no_range():
    frame = pl.DataFrame({"block": [1, 1], "loss": ["a", "b"], "points": [250.0, -3.0]})
    audited = audit_scores(frame, by=("block",), competitor="loss", score="points")
    assert audited.audit.findings == ()


def test_missing_rows_and_scores_are_named():
    frame = changed("Triplet", 1, None).filter(
        (pl.col("loss") != "Margin")
        | (pl.col("k") != 2)
        | (pl.col("backbone") != "BNInception")
        | (pl.col("embedding_dim") != 64)
    )
    lost = len(thesis()) - len(frame)
    found = audit_scores(frame, **KEYS).audit.findings
    assert [f.kind for f in found] == ["missing"] * (1 + lost)
    assert ("missing", "CUB200-2011/ResNet50/64/Triplet, k = 1") in short(
        audit_scores(frame, **KEYS).audit
    )


def test_a_row_that_stands_twice_is_named_and_its_cell_left_out_of_the_ranking():
    frame = thesis()
    twice = pl.concat([frame, frame.head(1).with_columns(pl.col("recall") + 1)])
    audited = audit_scores(twice, **KEYS)
    (found,) = [f for f in audited.audit.findings if f.kind == "duplicate"]
    assert found.where == "CUB200-2011/ResNet50/64/Contrastive, k = 1"
    assert found.message == "has 2 rows with the scores 60.28, 61.28"
    assert audited.tournament is not None
    assert len(audited.tournament.blocks) == 11


def test_rows_that_a_column_tells_apart_are_not_called_twice():
    seeds = pl.concat([thesis().with_columns(pl.lit(seed).alias("seed")) for seed in (1, 2)])
    with pytest.raises(PodiumError, match="seed"):
        audit_scores(seeds, **KEYS)
    averaged = audit_scores(seeds, average=("seed",), **KEYS)
    assert averaged.audit.findings == ()
    totals = {s.competitor: s.total_rank for s in averaged.tournament.standings}
    assert totals == thesis_cub200.TOTALS


def test_the_order_of_rows_does_not_matter():
    frame = changed("Triplet", 8, 1.5)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=3)
    assert audit_scores(frame, **KEYS).audit == audit_scores(shuffled, **KEYS).audit


def test_no_tournament_is_a_note_not_an_error():
    frame = pl.DataFrame({"block": [1, 2], "loss": ["a", "a"], "recall": [50.0, 60.0]})
    audited = audit_scores(frame, by=("block",), competitor="loss", score="recall")
    assert audited.tournament is None
    assert "at least two competitors" in audited.audit.notes[-1].message


def ranks(rule, seed=0, blocks=6, losses=5):
    rng = np.random.default_rng(seed)
    scores_BC = rng.integers(0, 4, size=(blocks, losses))
    ranked = [scipy.stats.rankdata(-row, method=rule) for row in scores_BC]
    return pl.DataFrame(
        {
            "block": np.repeat(np.arange(blocks), losses),
            "loss": [f"loss{c}" for c in range(losses)] * blocks,
            "rank": np.concatenate(ranked).astype(float),
        }
    )


RANKED = {"by": ("block",), "competitor": "loss", "rank": "rank"}


@pytest.mark.parametrize("rule", ["average", "min", "max", "dense"])
def test_the_rule_for_ties_is_named(rule):
    audit = audit_ranks(ranks(rule), **RANKED)
    assert audit.findings == ()
    (note,) = audit.notes
    assert f"fit the rule {rule}" in note.message


def test_without_ties_no_rule_can_be_told():
    (note,) = audit_ranks(ranks("ordinal"), **RANKED).notes
    assert "is unknown" in note.message


def test_two_rules_in_one_table_are_a_finding():
    mixed = pl.concat([ranks("min"), ranks("average").with_columns(pl.col("block") + 10)])
    assert short(audit_ranks(mixed, **RANKED)) == [("ties", "the table")]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (9.0, "impossible"),
        (0.0, "impossible"),
        (2.25, "impossible"),
        (None, "missing"),
        (4.0, "total"),
    ],
)
def test_a_wrong_rank_is_named(value, kind):
    frame = ranks("ordinal").with_row_index("row")
    first = frame.filter(pl.col("block") == 0).sort("rank")["row"][0]
    wrong = frame.with_columns(
        pl.when(pl.col("row") == first)
        .then(pl.lit(value, pl.Float64))
        .otherwise("rank")
        .alias("rank")
    )
    ((found, where),) = short(audit_ranks(wrong.drop("row"), **RANKED))
    assert found == kind
    assert where.startswith("0")


def folds(column):
    frame = pl.read_csv(thesis_cub200.DATA / "thesis_cross_validation.csv", infer_schema=False)
    return printed_column(frame[column].to_list(), column=column, place="folds.csv")


TEST = "test_recall_at_1"


def test_the_folds_of_the_thesis_have_the_deviation_it_prints_with_ddof_1():
    audit = audit_folds(TEST, folds(TEST), [parse_claim(f"{TEST}=63.61±0.59")])
    assert audit.findings == ()
    told = [note.message for note in audit.notes]
    assert told == [
        "mean 63.605, sample standard deviation 0.595 (population standard deviation 0.564) over"
        " 10 folds",
        "0.59 fits the sample standard deviation",
    ]


@pytest.mark.parametrize(
    ("claim", "kinds"),
    [
        ("63.61+-0.56", ["ddof"]),
        ("63.61±0.69", ["sd"]),
        ("63.16±0.59", ["mean"]),
        ("63.605 +/- 0.594", []),  # the folds are rounded themselves
        ("63.6050 +/- 0.5100", ["sd"]),
        ("63.605±0.595", []),
        ("63.60±0.6", []),
        ("64±1", []),
    ],
)
def test_what_is_claimed_of_folds_is_judged(claim, kinds):
    audit = audit_folds(TEST, folds(TEST), [parse_claim(f"{TEST}={claim}")])
    assert [found.kind for found in audit.findings] == kinds


def test_a_claim_fits_whatever_unrounded_folds_it_comes_from():
    rng = np.random.default_rng(5)
    for _ in range(200):
        true = rng.normal(64, 0.6, size=10)
        typed = printed_column([f"{v:.1f}" for v in true], column="x", place="x.csv")
        claim = parse_claim(f"x={true.mean():.2f}±{true.std(ddof=1):.2f}")
        assert not audit_folds("x", typed, [claim]).findings


def test_a_missing_fold_and_an_impossible_one_are_named():
    audit = audit_folds("recall", printed_column(["63.1", "", "163.2"], column="r", place="p"))
    assert short(audit) == [("missing", "recall, row 2"), ("impossible", "recall, row 3")]


@pytest.mark.parametrize("text", ["63.61", "x=63.61", "x=a±b", "=1±2"])
def test_a_claim_that_is_none_is_refused(text):
    with pytest.raises(PodiumError):
        parse_claim(text)


def test_a_claim_holds_what_is_typed():
    claim = parse_claim("test = 63.61 +- 0.5")
    assert isinstance(claim, Claim)
    assert (claim.column, str(claim.mean), str(claim.sd)) == ("test", "63.61", "0.5")
