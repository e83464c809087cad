import json

import numpy as np

from podium.analysis.tournament.rank_stability import rank_stability
from podium.analysis.tournament.standings_record import standing_records, tournament_record
from podium.analysis.tournament.verdict_text import tournament_sentences
from tests.analysis import thesis_cub200
from tests.analysis.tournament.small_tournaments import grid_tournament, tournament_of


def record_of(tournament):
    return tournament_record(tournament, rank_stability(tournament))


def text(tournament):
    return "\n".join(tournament_sentences(tournament, rank_stability(tournament)))


def test_the_sentences_on_the_thesis_table_hold_every_number_of_its_tests():
    found = text(thesis_cub200.independent())
    for part in (
        "Friedman χ²(9) = 81.455, p < 0.001; Kendall's W = 0.75",
        "critical difference 3.910 average ranks; 14 of 45 pairs differ significantly",
        "26 of 45 pairs differ significantly (two-sided Wilcoxon, Holm-adjusted, 5 %)",
        "with so many is < 0.001 before and 0.022 after the adjustment",
        "Rank 1 of ProxyAnchor is supported",
        "Rank 3 of MultiSimilarity is shared with Contrastive",
    ):
        assert part in found.replace("\N{NO-BREAK SPACE}", " ")


def test_with_too_few_blocks_it_is_said_how_many_it_takes():
    found = text(tournament_of(np.random.default_rng(0).normal(size=(4, 3))))
    assert (
        "This design cannot show a difference: with 4 blocks no pair can differ significantly"
        in found
    )
    assert "with so many is 0.12 before and 0.38 after the adjustment" in found
    assert "It takes 7 blocks: 3 more blocks would do." in found  # 3 pairs * 2 / 2^7 = 0.047


def test_of_three_groups_it_is_said_what_they_cannot_show_and_what_it_takes():
    found = text(thesis_cub200.tournament()).replace("\N{NO-BREAK SPACE}", " ")
    for part in (
        "Would the order hold on other data sets or backbones? Blocks of one group may repeat"
        " each other (intraclass correlation 0.59), so tests and resamples count 3 groups of"
        " blocks with one data set and backbone, not 12 blocks.",
        "Kendall's W = 0.82 (1: all groups agree)",
        "This design cannot show a difference: with 3 groups no pair can differ significantly",
        # 45 pairs * 2 / 2^11 = 0.044
        "It takes 11 groups: 8 more data sets or backbones would do.",
        "leaving out single groups keeps it 1 of 3 times",
    ):
        assert part in found


def test_blocks_of_one_group_are_said_to_be_descriptive():
    found = text(grid_tournament([[3, 2, 1]] * 4, "xxxx"))
    assert found.startswith(
        "The 4 blocks are 1 group of blocks with one data set: they show an order there, but"
        " support no test of whether it holds on other data sets. Everything here is descriptive"
    )
    assert "Wilcoxon" not in found


def test_mean_scores_that_tie_in_every_group_leave_nothing_to_test():
    # Each loss wins a block of each data set by as much.
    found = text(grid_tournament([[1, 2, 3], [3, 2, 1]] * 2, "xxyy"))
    assert "All mean scores tie within every group: there is nothing to test." in found


def test_one_block_is_said_to_be_descriptive():
    found = text(tournament_of([[3, 2, 1]]))
    assert "Everything here is descriptive" in found
    assert "Wilcoxon" not in found


def test_two_competitors_are_said_to_have_one_test():
    found = text(tournament_of([[2, 1]] * 7, names="ab"))
    assert "no Friedman or Nemenyi" in found
    assert "1 of 1 pair differ significantly" in found


def test_incomplete_blocks_are_named():
    found = text(tournament_of([[3, 2, 1], [3, None, 1]]))
    assert "Left out of the ranking for missing scores: 1 block (p01 lacks b)." in found


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
