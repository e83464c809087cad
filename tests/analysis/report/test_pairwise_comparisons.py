"""Pairwise comparisons: differences, and when there is no diagram."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from podium.analysis.figures.series import series_of
from podium.analysis.page.html_page import Illustration, Paragraph
from podium.analysis.report.pairwise_comparisons import pair_section, paired_differences
from podium.analysis.tournament.tournament import hold_tournament
from tests.analysis import thesis_cub200

LOOKS = series_of(list(thesis_cub200.TOTALS))


def tournament_of(scores_BC, **rules):
    rows = [
        {"block": f"b{b:02}", "loss": f"l{c}", "recall": float(scores_BC[b, c])}
        for b, c in np.ndindex(*scores_BC.shape)
    ]
    table = pl.DataFrame(rows)
    return hold_tournament(table, by=["block"], competitor="loss", score="recall", **rules)


def random_tournament(num_blocks, num_competitors, **rules):
    noise = np.random.default_rng(0).normal(size=(num_blocks, num_competitors))
    return tournament_of(noise - 2 * np.arange(num_competitors), **rules)


def forest(tournament, rope=None):
    return paired_differences(tournament, series_of(tournament.names), rope=rope)


def figures(tournament):
    parts = pair_section(tournament, series_of(tournament.names)).parts
    return {part.name: part for part in parts if isinstance(part, Illustration)}


def test_intervals_are_students_over_blocks_that_share_nothing():
    tournament = thesis_cub200.independent()
    fields = paired_differences(tournament, LOOKS, rope=None).plots[0].values["rows"]
    assert fields["name"] == list(tournament.names[1:])
    for i, _ in enumerate(fields["name"]):
        gaps = tournament.scores_BC[:, 0] - tournament.scores_BC[:, i + 1]
        low, high = stats.t.interval(0.95, len(gaps) - 1, gaps.mean(), stats.sem(gaps))
        assert fields["value"][i] == pytest.approx(gaps.mean(), rel=1e-5)
        assert (fields["low"][i], fields["high"][i]) == pytest.approx((low, high), rel=1e-4)


def test_intervals_count_groups_of_blocks_as_the_tests_do():
    tournament = thesis_cub200.tournament()
    figure = paired_differences(tournament, LOOKS, rope=None)
    means_G = tournament.block_groups.means(tournament.scores_BC)
    gaps_G = means_G[:, 0] - means_G[:, 1]
    low, high = stats.t.interval(0.95, len(gaps_G) - 1, gaps_G.mean(), stats.sem(gaps_G))
    fields = figure.plots[0].values["rows"]
    assert (fields["low"][0], fields["high"][0]) == pytest.approx((low, high), rel=1e-4)
    assert "Student's 95 % interval over 3 groups of blocks" in figure.caption


def test_few_competitors_have_all_their_pairs():
    fields = forest(random_tournament(6, 4)).plots[0].values["rows"]
    heads = [f"{a} {b}" for a, b in zip(fields["group"], fields["name"], strict=True)]
    assert len(heads) == 6
    assert heads[0] == "l0 minus l1"


def test_significant_pairs_are_filled_and_others_hollow():
    tournament = thesis_cub200.independent()
    fields = paired_differences(tournament, LOOKS, rope=None).plots[0].values["rows"]
    differs = [pair.differs(0.05) for pair in tournament.pairs if pair.a == "ProxyAnchor"]
    assert fields.get("isHollow", [False] * 9) == [not found for found in differs]
    assert all(differs)
    none = thesis_cub200.tournament()
    assert all(paired_differences(none, LOOKS, rope=None).plots[0].values["rows"]["isHollow"])


def test_two_blocks_have_differences_without_intervals():
    figure = forest(random_tournament(2, 3))
    assert "low" not in figure.plots[0].values["rows"]
    assert "no interval, which takes 3 blocks" in figure.caption


def test_only_a_declared_region_of_practical_equivalence_is_shaded():
    tournament = random_tournament(6, 3)
    assert forest(tournament, rope=0.5).plots[0].values["region"] == [-0.5, 0.5]
    assert "0.5 points either way" in forest(tournament, rope=0.5).caption
    assert forest(tournament).plots[0].values["region"] is None


def test_the_diagram_shows_the_primary_test_and_nemenyi_on_request():
    figure = figures(thesis_cub200.independent())["critical-difference"]
    assert figure.selector == "Test"
    assert [plot.label for plot in figure.plots] == ["Wilcoxon–Holm", "Nemenyi"]
    primary, nemenyi = figure.plots
    assert primary.values["criticalDifference"] is None
    assert nemenyi.values["criticalDifference"] == pytest.approx(3.9, abs=0.1)


def test_a_diagram_of_nemenyi_alone_has_no_selector():
    figure = figures(random_tournament(9, 4, test="nemenyi"))["critical-difference"]
    assert figure.selector == ""
    assert len(figure.plots) == 1


def test_a_critical_difference_beyond_the_axis_is_one_sentence_instead():
    tournament = random_tournament(2, 3)
    assert "critical-difference" not in figures(tournament)
    (note,) = (
        part
        for part in pair_section(tournament, series_of(tournament.names)).parts
        if isinstance(part, Paragraph)
    )
    assert note.text == (
        "No critical-difference diagram: with 2 blocks Nemenyi's critical difference of 2.34"
        " exceeds the axis from rank 1 to 3."
    )
