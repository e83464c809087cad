"""Tables of ranks, right and with one thing wrong each."""

import numpy as np
import polars as pl
import pytest
import scipy.stats

from analysis.audit.ranks_within_blocks import audit_ranks
from tests.analysis.audit.findings import ordered_findings


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


def test_without_ties_the_rule_is_unknown():
    (note,) = audit_ranks(ranks("ordinal"), **RANKED).notes
    assert "is unknown" in note.message


def test_two_rules_in_one_table_are_a_finding():
    mixed = pl.concat([ranks("min"), ranks("average").with_columns(pl.col("block") + 10)])
    assert ordered_findings(audit_ranks(mixed, **RANKED)) == [("ties", "the table")]


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
    ((found, where),) = ordered_findings(audit_ranks(wrong.drop("row"), **RANKED))
    assert found == kind
    assert where.startswith("0")
