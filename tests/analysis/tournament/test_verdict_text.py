import json

import numpy as np

from analysis.tournament.rank_stability import rank_stability
from analysis.tournament.standings_record import standing_records, tournament_record
from analysis.tournament.verdict_text import tournament_sentences
from tests.analysis import thesis_cub200
from tests.analysis.tournament.small_tournaments import tournament_of


def record_of(tournament):
    return tournament_record(tournament, rank_stability(tournament))


def text(tournament):
    return "\n".join(tournament_sentences(tournament, rank_stability(tournament)))


def test_the_sentences_on_the_thesis_table_hold_every_number_of_its_tests():
    found = text(thesis_cub200.tournament())
    for part in (
        "chi-square 81.455, 9 degrees of freedom, p = 8.3e-14",
        "critical difference 3.910 average ranks at alpha = 0.05; 14 of 45 pairs significantly",
        "26 of 45 pairs significantly different",
        "With 12 blocks no pair can get a p below 0.00049, or 0.022 after Holm over 45 pairs",
        "The first place of ProxyAnchor is supported",
        "The third place of MultiSimilarity is shared with Contrastive",
    ):
        assert part in found


def test_with_too_few_blocks_it_is_said_how_many_it_takes():
    found = text(tournament_of(np.random.default_rng(0).normal(size=(4, 3))))
    assert "no difference can be significant at alpha = 0.05" in found
    assert "It takes 7 blocks" in found  # 3 pairs * 2 / 2^7 = 0.047


def test_few_blocks_get_a_permutation_p():
    assert "by permutation p = " in text(
        tournament_of(np.random.default_rng(0).normal(size=(4, 3)))
    )


def test_one_block_is_said_to_be_descriptive():
    found = text(tournament_of([[3, 2, 1]]))
    assert "everything here is descriptive" in found
    assert "Wilcoxon" not in found


def test_two_competitors_are_said_to_have_one_test():
    found = text(tournament_of([[2, 1]] * 7, names="ab"))
    assert "no Friedman, no Nemenyi" in found
    assert "1 of 1 pair significantly different at" in found


def test_incomplete_blocks_are_named():
    assert "1 incomplete block is left out: p01 (no b)." in text(
        tournament_of([[3, 2, 1], [3, None, 1]])
    )


def test_only_some_of_many_incomplete_blocks_are_named():
    found = text(tournament_of([[3, 2, 1]] + [[3, None, 1]] * 7))
    assert "7 incomplete blocks are left out: " in found
    assert "and 2 more." in found


def test_a_record_is_plain_values():
    record = record_of(thesis_cub200.tournament())
    assert json.loads(json.dumps(record, allow_nan=False))["critical_difference"] > 3.9
    assert list(record["competitors"][0])[:6] == [
        "competitor",
        "total_rank",
        "average_rank",
        "rank_std",
        "wins",
        "blocks",
    ]
    assert record["pairs"][0]["method"] == "exact"


def test_a_record_of_one_block_has_no_tests():
    record = record_of(tournament_of([[3, 2, 1]]))
    assert (record["friedman"], record["critical_difference"]) == (None, None)
    assert (record["smallest_p"], record["pairs"][0]["p_holm"]) == (None, None)
    assert record["pairs"][0]["mean_difference"] == 1
    assert [row["rank_std"] for row in standing_records(tournament_of([[3, 2, 1]]))] == [None] * 3
