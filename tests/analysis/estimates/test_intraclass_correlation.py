"""How much blocks of one group agree in the order of losses."""

from pathlib import Path

import numpy as np
import pytest

from podium.analysis.estimates.intraclass_correlation import intraclass_correlation
from podium.analysis.tournament.tournament import hold_tournament
from podium.analysis.typed_tables.score_table import read_table
from tests.analysis.estimates.slow_grouped_share import blocks_of
from tests.analysis.thesis_cub200 import BY

THESIS = Path(__file__).parents[3] / "studies" / "thesis_cub200.csv"


def slow_correlation(scores, members):
    """One-way analysis of variance over groups, competitor by competitor, in loops."""
    num_blocks, num_competitors, num_groups = *scores.shape, len(members)
    between = within = 0.0
    for c in range(num_competitors):
        gains = [scores[b, c] - scores[b].mean() for b in range(num_blocks)]
        mean = sum(gains) / num_blocks
        for blocks in members:
            of_group = [gains[b] for b in blocks]
            centre = sum(of_group) / len(of_group)
            between += len(of_group) * (centre - mean) ** 2
            within += sum((gain - centre) ** 2 for gain in of_group)
    between, within = between / (num_groups - 1), within / (num_blocks - num_groups)
    sizes = [len(blocks) for blocks in members]
    size = (num_blocks - sum(n * n for n in sizes) / num_blocks) / (num_groups - 1)
    return max(0.0, (between - within) / (between + (size - 1) * within))


def drawn(generator, sizes, icc, num_competitors=5):
    of_block = np.repeat(np.arange(len(sizes)), sizes)
    shared = generator.normal(size=(len(sizes), num_competitors))[of_block]
    own = generator.normal(size=(len(of_block), num_competitors))
    return 60 + np.sqrt(icc) * shared + np.sqrt(1 - icc) * own


@pytest.mark.parametrize("sizes", [[4, 4, 4], [2] * 6, [1, 2, 5, 3]])
@pytest.mark.parametrize("icc", [0.0, 0.5, 0.9])
def test_it_is_that_of_an_analysis_of_variance_in_loops(sizes, icc):
    scores, members = drawn(np.random.default_rng(0), sizes, icc), blocks_of(sizes)
    expected = slow_correlation(scores, members)
    assert intraclass_correlation(scores, members) == pytest.approx(expected)


def test_the_blocks_of_a_backbone_agree_in_the_thesis():
    cells = read_table(THESIS, by=BY, competitor="loss", score="recall", where=["k=1"]).cells
    held = hold_tournament(cells, by=BY, competitor="loss", score="recall")
    assert held.intraclass_correlation == pytest.approx(0.59, abs=0.005)
    members = held.block_groups.members
    assert held.intraclass_correlation == pytest.approx(slow_correlation(held.scores_BC, members))


@pytest.mark.parametrize("icc", [0.0, 0.3, 0.8])
def test_it_finds_what_was_planted(icc):
    scores, members = drawn(np.random.default_rng(1), [4] * 200, icc), blocks_of([4] * 200)
    assert intraclass_correlation(scores, members) == pytest.approx(icc, abs=0.05)


def test_blocks_less_alike_within_groups_than_between_have_none():
    scores = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    assert intraclass_correlation(scores, blocks_of([2, 2])) == 0


def test_groups_that_repeat_one_block_correlate_fully():
    scores = np.repeat(np.random.default_rng(2).normal(size=(3, 4)), 4, axis=0)
    assert intraclass_correlation(scores, blocks_of([4] * 3)) == pytest.approx(1)


def test_how_hard_a_block_is_does_not_matter():
    scores, members = drawn(np.random.default_rng(3), [3] * 4, 0.5), blocks_of([3] * 4)
    harder = scores - 10 * np.arange(12)[:, None]
    assert intraclass_correlation(harder, members) == pytest.approx(
        intraclass_correlation(scores, members)
    )


@pytest.mark.parametrize(
    ("scores", "sizes"),
    [
        (np.eye(4), [4]),  # one group
        (np.eye(4), [1, 1, 1, 1]),  # nothing to compare within a group
        (np.arange(4.0)[:, None], [2, 2]),  # one competitor
        (np.full((4, 3), 61.3), [2, 2]),  # no deviation
        (np.add.outer(np.arange(4.0), [0.1, 0.2, 0.7]), [2, 2]),  # the same gaps everywhere
    ],
)
def test_without_groups_to_compare_or_anything_that_varies_there_is_none(scores, sizes):
    assert intraclass_correlation(scores, blocks_of(sizes)) is None
