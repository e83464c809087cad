"""Groups of competitors, against loops over blocks and competitors."""

import itertools
import math
import statistics

import numpy as np
import polars as pl
import pytest

from podium.analysis.estimates.confidence_intervals import t_reach
from podium.analysis.tournament.loss_groups import check_groups, compare_groups, groups_by_kind
from podium.analysis.tournament.tournament import hold_tournament
from podium.errors import PodiumError

LOSSES = ("arcface", "contrastive", "margin", "softmax", "triplet")
GROUPS = {"embedding": ("contrastive", "margin", "triplet"), "classes": ("softmax", "arcface")}


def tournament_of(scores, *, dims=1):
    """Rows of scores are blocks, ``dims`` of each data set; columns are ``LOSSES``."""
    rows = [
        {
            "dataset": f"d{b // dims}",
            "embedding_dim": b % dims,
            "loss": loss,
            "score": float(value),
        }
        for b, row in enumerate(scores)
        for loss, value in zip(LOSSES, row, strict=True)
    ]
    table = pl.DataFrame(rows)
    return hold_tournament(
        table, by=("dataset", "embedding_dim"), competitor="loss", score="score"
    )


def slow_ranks(row):
    """1 + those that are better + half of those that are equal."""
    return [
        1 + sum(other > value for other in row) + (sum(other == value for other in row) - 1) / 2
        for value in row
    ]


def slow_interval(values, labels):
    """Mean with Student's t over groups of blocks, leaving out each in turn."""
    groups = sorted(set(labels))
    mean = statistics.fmean(values)
    if len(groups) < 2:
        return mean, None
    left = [
        statistics.fmean(v for v, label in zip(values, labels, strict=True) if label != group)
        for group in groups
    ]
    spread = sum((one - statistics.fmean(left)) ** 2 for one in left)
    error = math.sqrt((len(groups) - 1) / len(groups) * spread)
    return mean, error


def of_group(values, members):
    return statistics.fmean(values[LOSSES.index(name)] for name in members)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_ranks_scores_and_differences_are_those_of_loops(dims):
    generator = np.random.default_rng(dims)
    scores = generator.integers(40, 60, size=(6 * dims, 5)) / 2  # with ties
    found = compare_groups(tournament_of(scores, dims=dims), GROUPS)
    labels = [b // dims for b in range(6 * dims)]

    for group in found.groups:
        members = GROUPS[group.name]
        for interval, rows, (least, most) in (
            (group.rank, [slow_ranks(row.tolist()) for row in scores], (1, 5)),
            (group.score, scores.tolist(), (-math.inf, math.inf)),
        ):
            mean, error = slow_interval([of_group(row, members) for row in rows], labels)
            reach = t_reach(5) * error
            assert interval.estimate == pytest.approx(mean)
            assert interval.standard_error == pytest.approx(error)
            assert interval.low == pytest.approx(max(least, mean - reach))
            assert interval.high == pytest.approx(min(most, mean + reach))
            assert interval.num == 6
    ((a, b, difference),) = found.differences
    gaps = [of_group(row, GROUPS[a]) - of_group(row, GROUPS[b]) for row in scores]
    mean, error = slow_interval(gaps, labels)
    assert difference.estimate == pytest.approx(mean)
    assert difference.standard_error == pytest.approx(error)
    assert {a, b} == set(GROUPS)


def test_the_best_of_a_group_is_its_best_by_average_rank():
    scores = np.array([[5, 4, 9, 1, 2], [6, 4, 8, 1, 2], [5, 3, 9, 1, 2]])
    found = compare_groups(tournament_of(scores), GROUPS)
    embedding = next(group for group in found.groups if group.name == "embedding")
    assert embedding.members == ("margin", "contrastive", "triplet")
    assert embedding.best_score == pytest.approx(26 / 3)
    assert [group.name for group in found.groups] == ["embedding", "classes"]


def test_no_rank_is_better_than_the_first():
    always_first = [[b, 0, 0, 0, 10 + b] for b in (1, 2, 3, 4, 5, -1)]
    found = compare_groups(tournament_of(always_first), {"t": ("triplet",), "m": ("margin",)})
    first = found.groups[0].rank
    assert (first.estimate, first.low, first.high) == (1.0, None, None)
    varying = [*[[0, 0, 0, 0, 1]] * 5, [5, 4, 3, 2, 1]]
    found = compare_groups(tournament_of(varying), {"t": ("triplet",), "m": ("margin",)})
    assert found.groups[0].rank.low >= 1.0
    assert max(group.rank.high for group in found.groups) <= 5.0


@pytest.mark.parametrize(("blocks", "dims"), [(1, 1), (3, 3), (2, 1)])
def test_few_independent_blocks_have_no_interval(blocks, dims):
    scores = np.random.default_rng(0).normal(size=(blocks, 5))
    ((*_, difference),) = compare_groups(tournament_of(scores, dims=dims), GROUPS).differences
    assert difference.low is difference.high is None
    assert difference.standard_error is None


def test_three_groups_have_three_differences_the_better_first():
    groups = {"a": ("arcface",), "b": ("contrastive", "margin"), "c": ("softmax",)}
    found = compare_groups(tournament_of(np.random.default_rng(1).normal(size=(4, 5))), groups)
    names = [group.name for group in found.groups]
    assert [(a, b) for a, b, _ in found.differences] == list(itertools.combinations(names, 2))
    assert found.ungrouped == ("triplet",)


def test_names_that_were_not_ranked_are_left_out_and_one_group_is_no_comparison():
    held = tournament_of(np.random.default_rng(1).normal(size=(4, 5)))
    assert compare_groups(held, {"a": ("arcface", "unranked"), "b": ("other",)}) is None
    assert compare_groups(held, {}) is None


def test_kinds_of_losses_make_two_groups():
    kinds = {"contrastive": "pair", "softmax": "proxy", "fast_ap": "ranking", "mixed": "sum"}
    assert groups_by_kind(kinds) == {
        "losses on embeddings": ("contrastive", "fast_ap"),
        "classification and proxy losses": ("softmax",),
    }


@pytest.mark.parametrize(
    ("groups", "problem"),
    [
        ({"a": ("softmax",)}, "groups are compared with each other; got one, a"),
        (
            {"a": ("softmax",), "b": ("soft",)},
            "the group b must hold competitors among arcface, .*, triplet; got 'soft'",
        ),
        ({"a": ("softmax",), "b": ("softmax",)}, "softmax is in two groups, a and b"),
    ],
)
def test_groups_that_cannot_be_compared_are_refused(groups, problem):
    with pytest.raises(PodiumError, match=problem):
        check_groups(groups, LOSSES)
