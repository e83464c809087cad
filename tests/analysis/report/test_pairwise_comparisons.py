"""Pairwise comparisons: differences, and when there is no diagram."""

import numpy as np
import polars as pl
import pytest

from podium.analysis.figures.series import series_of
from podium.analysis.page.html_page import Illustration, Paragraph
from podium.analysis.report.pairwise_comparisons import pair_section, paired_differences
from podium.analysis.tournament.tournament import hold_tournament
from podium.orchestrator.results.records.tournament_rules import TournamentRules
from tests.analysis import thesis_cub200

LOOKS = series_of(list(thesis_cub200.TOTALS))


def tournament_of(scores_BC, **rules):
    rows = [
        {"block": f"b{b:02}", "loss": f"l{c}", "recall": float(scores_BC[b, c])}
        for b, c in np.ndindex(*scores_BC.shape)
    ]
    table = pl.DataFrame(rows)
    rules = TournamentRules(**rules)
    return hold_tournament(table, by=["block"], competitor="loss", score="recall", rules=rules)


def random_tournament(num_blocks, num_competitors, **rules):
    noise = np.random.default_rng(0).normal(size=(num_blocks, num_competitors))
    return tournament_of(noise - 2 * np.arange(num_competitors), **rules)


def forest(tournament):
    return paired_differences(tournament, series_of(tournament.names))


def figures(tournament):
    parts = pair_section(tournament, series_of(tournament.names)).parts
    return {part.name: part for part in parts if isinstance(part, Illustration)}


def test_the_figure_has_the_intervals_of_the_test():
    tournament = thesis_cub200.independent()
    figure = paired_differences(tournament, LOOKS)
    fields = figure.plots[0].values["rows"]
    assert fields["name"] == list(tournament.names[1:])
    for i, pair in enumerate(tournament.pairs[:9]):
        found = (fields["value"][i], fields["low"][i], fields["high"][i])
        assert found == pytest.approx((pair.mean_difference, pair.low, pair.high), rel=1e-4)
    assert "means over 12 settings, with simultaneous 95 % intervals" in figure.caption


def test_few_competitors_have_all_their_pairs():
    fields = forest(random_tournament(6, 4)).plots[0].values["rows"]
    heads = [f"{a} {b}" for a, b in zip(fields["group"], fields["name"], strict=True)]
    assert len(heads) == 6
    assert heads[0] == "l0 minus l1"


def test_significant_pairs_are_filled_and_others_hollow():
    tournament = thesis_cub200.independent()
    fields = paired_differences(tournament, LOOKS).plots[0].values["rows"]
    differs = [pair.differs(0.05) for pair in tournament.pairs if pair.a == "ProxyAnchor"]
    assert fields.get("isHollow", [False] * 9) == [not found for found in differs]
    assert all(differs)


def test_what_was_not_tested_is_neither_hollow_nor_has_p():
    figure = paired_differences(thesis_cub200.tournament(), LOOKS)
    fields = figure.plots[0].values["rows"]
    assert {"low", "isHollow"}.isdisjoint(fields)
    assert "is not tested: it takes 6 data sets or 6 backbones" in figure.caption
    assert [column.label for column in figure.table.columns][2:] == [
        "Mean gap, points",
        "Won/tied/lost",
    ]


def test_pairs_that_are_not_asked_are_not_shown():
    figure = forest(random_tournament(6, 4, against="l2"))
    assert figure.plots[0].values["rows"]["group"] == ["l0 minus", "l1 minus", "l2 minus"]


def test_only_a_declared_region_of_practical_equivalence_is_shaded():
    declared = forest(random_tournament(6, 3, rope_points=0.5))
    assert declared.plots[0].values["region"] == [-0.5, 0.5]
    assert "0.5 points either way" in declared.caption
    assert forest(random_tournament(6, 3)).plots[0].values["region"] is None


def test_nemenyi_has_its_diagram_only_where_asked():
    assert set(figures(random_tournament(9, 4))) == {"paired-differences"}
    figure = figures(random_tournament(9, 4, test="nemenyi"))["critical-difference"]
    (plot,) = figure.plots
    assert plot.values["criticalDifference"] == pytest.approx(1.563, abs=1e-3)
    assert figure.caption.endswith("though those of one data set are alike.")


def test_a_critical_difference_beyond_the_axis_is_one_sentence_instead():
    tournament = random_tournament(2, 3, test="nemenyi")
    assert "critical-difference" not in figures(tournament)
    (note,) = (
        part
        for part in pair_section(tournament, series_of(tournament.names)).parts
        if isinstance(part, Paragraph)
    )
    assert note.text == (
        "No critical-difference diagram: with 2 settings Nemenyi's critical difference of 2.34"
        " exceeds the axis from rank 1 to 3."
    )
