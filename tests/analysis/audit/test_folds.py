"""Folds, right and with one thing wrong each, and what is claimed of them."""

import numpy as np
import polars as pl
import pytest

from analysis.audit.folds import Claim, audit_folds, parse_claim
from analysis.typed_tables.printed_numbers import printed_column
from podium.errors import PodiumError
from tests.analysis import thesis_cub200
from tests.analysis.audit.findings import ordered_findings


def folds(column):
    frame = pl.read_csv(thesis_cub200.DATA / "thesis_cross_validation.csv", infer_schema=False)
    return printed_column(frame[column].to_list(), column=column, source="folds.csv")


TEST = "test_recall_at_1"


def test_the_folds_of_the_thesis_have_the_sample_deviation_it_prints():
    audit = audit_folds(TEST, folds(TEST), [parse_claim(f"{TEST}=63.61±0.59")])
    assert audit.findings == ()
    messages = [note.message for note in audit.notes]
    assert messages == [
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
def test_claims_of_folds_are_checked(claim, kinds):
    audit = audit_folds(TEST, folds(TEST), [parse_claim(f"{TEST}={claim}")])
    assert [found.kind for found in audit.findings] == kinds


def test_a_claim_fits_whatever_unrounded_folds_it_comes_from():
    rng = np.random.default_rng(5)
    for _ in range(200):
        true = rng.normal(64, 0.6, size=10)
        typed = printed_column([f"{v:.1f}" for v in true], column="x", source="x.csv")
        claim = parse_claim(f"x={true.mean():.2f}±{true.std(ddof=1):.2f}")
        assert not audit_folds("x", typed, [claim]).findings


def test_a_missing_fold_and_an_impossible_one_are_named():
    audit = audit_folds("recall", printed_column(["63.1", "", "163.2"], column="r", source="p"))
    assert ordered_findings(audit) == [
        ("missing", "recall, row 2"),
        ("impossible", "recall, row 3"),
    ]


@pytest.mark.parametrize("text", ["63.61", "x=63.61", "x=a±b", "=1±2"])
def test_a_claim_that_is_none_is_refused(text):
    with pytest.raises(PodiumError):
        parse_claim(text)


def test_a_claim_holds_what_is_typed():
    claim = parse_claim("test = 63.61 +- 0.5")
    assert isinstance(claim, Claim)
    assert (claim.column, str(claim.mean), str(claim.sd)) == ("test", "63.61", "0.5")
