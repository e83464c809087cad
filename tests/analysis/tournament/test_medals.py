"""Which of the first three places are supported, and with whom the others are shared."""

import json

import numpy as np
import pytest

from podium.analysis.tournament.medals import medals, shared_places
from podium.analysis.tournament.rank_stability import rank_stability
from podium.analysis.tournament.standings_record import tournament_record
from podium.analysis.tournament.verdict_text import medal_sentences, shared_first
from tests.analysis import thesis_cub200
from tests.analysis.tournament.small_tournaments import grid_tournament, tournament_of


def medals_of(tournament):
    return medals(tournament, rank_stability(tournament))


def test_the_bronze_medal_of_the_thesis_is_shared_on_all_three_grounds():
    first, second, third = medals_of(thesis_cub200.independent())

    assert (first.competitor, first.is_supported, first.p_place) == ("ProxyAnchor", True, 1)
    assert (first.num_kept, first.num_left_out) == (12, 12)
    assert (second.competitor, second.shared_with[0]) == ("SoftTriple", "MultiSimilarity")
    assert third.competitor == "MultiSimilarity"
    assert third.not_significantly_different == (
        "Contrastive",
        "LiftedStructure",
        "Margin",
        "ArcFace",
    )
    assert third.ahead_without == ("Contrastive", "LiftedStructure")
    assert third.often_ahead[:2] == ("Contrastive", "LiftedStructure")
    assert third.num_kept == 5
    assert third.p_place == pytest.approx(0.45, abs=0.05)  # ties share here


def test_no_medal_of_the_thesis_is_supported_by_its_three_backbones():
    first, second, third = medals_of(thesis_cub200.tournament())

    assert len(first.not_significantly_different) == 9
    assert (first.often_ahead, first.ahead_without) == ((), ())
    assert (first.num_kept, first.num_left_out) == (3, 3)
    assert len(second.shared_with) == 8
    assert third.ahead_without == ("Contrastive", "LiftedStructure")
    assert third.num_kept == 1


def test_blocks_of_one_group_support_no_medal_however_many():
    # a wins 40 blocks of one data set: nothing says that it would elsewhere.
    tournament = grid_tournament([[3, 2, 1]] * 40, ["x"] * 40)

    assert tournament.is_descriptive
    assert not any(medal.is_supported for medal in medals(tournament, None))
    assert list(medal_sentences(tournament, None)) == []


def test_every_place_that_is_shared_is_marked_whichever_it_is():
    # d and e swap places; a, b and c never do.
    scores = [[5, 4, 3, 2, 1], [5, 4, 3, 1, 2], [5, 4, 3, 2, 1]] * 4
    tournament = tournament_of(scores)
    stability = rank_stability(tournament)

    assert [m.competitor for m in medals(tournament, stability)] == ["a", "b", "c"]
    assert shared_places(tournament, stability) == {"d": ("e",)}


def test_a_place_that_no_ground_speaks_against_is_supported():
    tournament = tournament_of([[4, 3, 2, 1]] * 9)

    assert [m.shared_with for m in medals_of(tournament)] == [(), (), ()]
    (sentence,) = medal_sentences(tournament, rank_stability(tournament))
    assert sentence.startswith("Rank 1 of a, rank 2 of b and rank 3 of c are supported")
    assert shared_places(tournament, rank_stability(tournament)) == {}


def test_places_are_named_from_the_first_to_the_third():
    # a and b swap places from block to block; c and d never do.
    tournament = tournament_of([[4, 3, 2, 1], [3, 4, 2, 1], [4, 3, 2, 1]] * 4)
    found = list(medal_sentences(tournament, rank_stability(tournament)))

    assert [sentence.split(" is ")[0].split(" are ")[0] for sentence in found] == [
        "Rank 1 of a",
        "Rank 2 of b and rank 3 of c",
    ]
    assert " shared with b" in found[0]
    assert " are supported: each differs" in found[1]


def test_a_place_that_is_kept_as_a_tie_names_the_tie_as_the_reason():
    tournament = tournament_of([[1, 1, 0]] * 9)
    first, second, *_ = medal_sentences(tournament, rank_stability(tournament))

    assert first.startswith("Rank 1 of a is shared with b")
    assert "others are level or ahead when single blocks are left out" in first
    assert second.startswith("Rank 1 of b is shared with a")
    assert "9 of 9" not in first + second


def test_the_test_is_a_reason_only_against_those_that_do_not_differ():
    scores = np.random.default_rng(3).normal(size=(12, 4)) - [0, 0.6, 1.0, 1.4]
    tournament = tournament_of(scores.round(2), alpha=0.3)
    first, *_ = medals_of(tournament)
    sentence, *_ = medal_sentences(tournament, rank_stability(tournament))

    assert (first.not_significantly_different, first.shared_with) == (("b",), ("b", "c"))
    assert (
        "is shared with b and c: it is not significantly different from b and a keeps it in"
        in sentence
    )


def test_too_few_blocks_for_any_test_share_a_place_that_resamples_would_keep():
    first, *_ = medals_of(tournament_of([[3, 2, 1]] * 4))

    assert first.not_significantly_different == ("b", "c")
    assert (first.often_ahead, first.ahead_without, first.p_place) == ((), (), 1)


def test_a_place_that_one_block_decides_is_shared_even_where_the_test_is_lenient():
    # a is ahead of b by one block's rank in total.
    scores = [[3, 2, 1]] * 6 + [[2, 3, 1]] * 5
    tournament = tournament_of(scores, alpha=0.5)
    first, *_ = medals_of(tournament)

    assert "b" in first.ahead_without
    assert "b" in first.often_ahead
    assert first.num_kept == 11  # a and b are level without one of six blocks


def test_those_that_take_a_place_too_often_are_named():
    generator = np.random.default_rng(3)
    for _ in range(12):
        for medal in medals_of(tournament_of(generator.normal(size=(6, 8)))):
            assert medal.p_place >= 0.95 or medal.often_ahead


def test_without_resamples_only_the_test_speaks():
    tournament = thesis_cub200.independent()
    third = medals(tournament, None)[2]

    assert third.shared_with == ("Contrastive", "LiftedStructure", "Margin", "ArcFace")
    assert (third.p_place, third.num_left_out) == (None, 0)


def test_the_sole_first_of_a_shared_place_names_the_others():
    tournament = tournament_of([[3, 2, 1]] * 4)

    assert shared_first(tournament, rank_stability(tournament)) == "b and c"


def test_places_of_equal_competitors_are_hardly_ever_supported():
    generator = np.random.default_rng(0)
    rounds = 40
    supported = sum(
        medals_of(tournament_of(generator.normal(size=(10, 4))))[0].is_supported
        for _ in range(rounds)
    )
    assert supported <= 2


def test_the_record_says_what_is_shared_and_why():
    tournament = thesis_cub200.tournament()
    record = tournament_record(tournament, rank_stability(tournament))
    record = json.loads(json.dumps(record, allow_nan=False))

    bronze = record["medals"][2]
    assert (bronze["competitor"], bronze["is_supported"]) == ("MultiSimilarity", False)
    assert bronze["shared_with"][0] == "Contrastive"
    stability = record["stability"]
    assert stability["resampled"] == "3 groups of blocks with one data set and backbone"
    assert (stability["num_groups"], stability["num_blocks"]) == (3, 12)
    assert stability["is_sensitivity"]
    assert {found["low"] for found in stability["competitors"]} == {None}
    assert [one["left_out"] for one in stability["leave_one_out"]] == [
        "CUB200-2011/BNInception",
        "CUB200-2011/GoogLeNet",
        "CUB200-2011/ResNet50",
    ]


def test_the_record_says_what_its_tests_answer_and_by_which_groups():
    record = tournament_record(thesis_cub200.tournament(), None)

    assert record["question"] == "Would the order hold on other data sets or backbones?"
    assert record["block_groups"]["columns"] == ("dataset", "backbone")
    assert record["block_groups"]["labels"][:4] == ("CUB200-2011/BNInception",) * 4
    assert record["block_groups"]["intraclass_correlation"] == pytest.approx(0.59, abs=0.005)
