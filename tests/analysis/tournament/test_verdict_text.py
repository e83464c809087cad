"""Sentences on a tournament, and its record."""

import json

import numpy as np
import pytest

from podium.analysis.tournament.standings_record import tournament_record
from podium.analysis.tournament.verdict_text import headline, verdict_sentences
from podium.orchestrator.results.records.tournament_rules import TournamentRules
from tests.analysis import thesis_cub200
from tests.analysis.tournament.small_tournaments import grid_tournament, tournament_of

NOISE = np.random.default_rng(0).normal(size=(8, 4)) * 0.3


def text(tournament):
    said = (headline(tournament, metric="R@1"), *verdict_sentences(tournament))
    return "\n".join(said).replace("\N{NO-BREAK SPACE}", " ")


def test_what_was_not_tested_is_ranked_and_neither_shared_nor_separated():
    found = text(thesis_cub200.tournament())
    assert found == (
        "ProxyAnchor is first in all 12 settings, on average 2.2 points of R@1 above SoftTriple."
        " Whether that holds on other data sets or backbones is not tested: it takes 6 data sets"
        " or 6 backbones; these are 1 and 3.\n"
        "ProxyAnchor stays first without any one of BNInception, GoogLeNet or ResNet50."
    )


def test_the_leader_is_told_from_whom_it_differs():
    near = tournament_of(NOISE - [0, 0.1, 3, 6])
    found = text(near)
    first = near.names[0]
    second = near.names[1]
    p = next(pair.p for pair in near.pairs if pair.b == second)
    assert f"{first} is significantly better than c (p = 0.008) and d (p = 0.008)." in found
    assert f"It is not shown to be better than {second} (p = {p:.2f})." in found
    assert "5 of 6 pairs differ significantly: " in found
    assert (
        "Would the order hold on other settings? The test counts 8 settings: exact flips of signs,"
        " p adjusted for 6 pairs, level 5 %."
    ) in found


def test_a_control_is_told_from_each_other_one():
    held = tournament_of(NOISE - [0, 3, 3.01, 6], rules=TournamentRules(against="b"))
    found = text(held)
    assert "b is significantly better than d (p = 0.008)." in found
    assert "It is significantly worse than a (p = 0.008)." in found
    assert "It is not shown to be better than c" in found
    assert "p adjusted for 3 pairs" in found


def test_units_of_several_settings_are_told_as_means():
    held = grid_tournament(
        np.repeat(NOISE, 2, axis=0) - [0, 3, 6, 9], np.repeat(list("stuvwxyz"), 2)
    )
    assert "The test counts 8 data sets, each by its mean over 2 settings: " in text(held)
    assert "a is significantly better than b (p = 0.008), c (p = 0.008)" in text(held)


def test_equal_totals_alone_share_a_rank():
    assert "a and b tie for first of 2 over 2 settings" in text(tournament_of([[1, 2], [2, 1]]))
    assert text(tournament_of([[1, 2]])).startswith(
        "b is first in the one setting, 1.0 points of R@1 above a."
    )


def test_who_leads_without_a_setting_is_named():
    found = text(tournament_of([[3, 2], [3, 2], [0, 2]]))
    assert "changes who is first in 2 cases: a and b without p00 and a and b without p01." in found


def test_incomplete_blocks_are_named():
    found = text(tournament_of([[3, 2, 1], [3, None, 1]]))
    assert found.startswith("Over all 2 settings, 1 of which lacks scores, a comes first, before")
    assert "Left out of the ranking for missing scores: 1 setting (p01 lacks b)." in found


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("wilcoxon_holm", "Wilcoxon with Holm: 26 of 45 pairs differ significantly."),
        ("nemenyi", "Nemenyi: critical difference 3.91 average ranks; 14 of 45 pairs differ"),
        ("friedman", "Friedman: χ²(9) = 81.455, p < 0.001, Kendall's W = 0.75."),
    ],
)
def test_a_classic_test_is_told_where_asked_with_what_it_assumes(test, said):
    found = text(thesis_cub200.tournament(TournamentRules(test=test)))
    assert said in found
    assert "It takes the 12 settings for independent, though those of one data set" in found
    assert found.startswith(text(thesis_cub200.tournament()))


def test_a_record_is_plain_values():
    record = json.loads(json.dumps(tournament_record(thesis_cub200.tournament()), allow_nan=False))
    assert list(record["competitors"][0])[:2] == ["competitor", "total_rank"]
    assert record["units"]["untested"].startswith("Whether that holds")
    assert record["pairs"][0]["p"] is None
    classic = record["classic"]
    assert classic["friedman"]["statistic"] == pytest.approx(81.455, abs=5e-4)
    assert classic["critical_difference"] == pytest.approx(3.9104, abs=5e-5)
    assert sum(pair["p_holm"] <= 0.05 for pair in classic["pairs"]) == 26
    assert sum(pair["p_nemenyi"] <= 0.05 for pair in classic["pairs"]) == 14


def test_a_record_of_one_block_has_no_tests():
    record = tournament_record(tournament_of([[3, 2, 1]]))
    assert (record["classic"], record["pairs"][0]["p"]) == (None, None)
    assert record["pairs"][0]["mean_difference"] == 1
