"""A page shows a few blocks of many, and says so."""

import re

import polars as pl
import pytest

from podium.analysis.report.shown_blocks import points_of_line, ranked_losses, spread_blocks
from podium.analysis.study_results.study_results import read_results
from tests.analysis.page_text import rows_of, study_page
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth

MANY = Truth(
    scripts=("armenian", "arrows", "cyrillic", "georgian", "greek", "latin", "operators"),
    strengths={"contrastive": -0.13, "proxy_anchor": -0.07},
    search_trials=3,
    seeds=1,
)  # 14 blocks


@pytest.fixture(scope="module")
def many_block_results(tmp_path_factory):
    return read_results(write_store(tmp_path_factory.mktemp("store") / "s", MANY))


@pytest.fixture(scope="module")
def many_block_page(many_block_results):
    return study_page(many_block_results.folder)


def test_blocks_are_spread_from_the_hardest_to_the_easiest(many_block_results):
    cells = many_block_results.cells.filter(finalist="winner", k=1)
    means = cells.group_by("block").agg(pl.col("score").mean()).sort("score")["block"].to_list()
    having = set(means)

    assert spread_blocks(many_block_results, having, 99) == means
    assert spread_blocks(many_block_results, having, 3) == [means[0], means[7], means[13]]
    assert spread_blocks(many_block_results, having, 2) == [means[0], means[13]]
    assert spread_blocks(many_block_results, having, 1) == [means[7]]
    assert spread_blocks(many_block_results, set(means[:4]), 9) == means[:4]


def test_blocks_without_a_test_score_come_last(many_block_results):
    having = {"zzz", "aaa", *many_block_results.cells["block"]}
    assert spread_blocks(many_block_results, having, 99)[-2:] == ["aaa", "zzz"]


def test_every_block_is_drawn_and_in_the_tables(many_block_page):
    assert len(re.findall(r'<div class="plot" id="curves-\d+"', many_block_page)) == 14
    assert len(re.findall(r'<div class="plot" id="history-\d+"', many_block_page)) == 14
    assert len({row[0] for row in rows_of(many_block_page, "learning-curves-table")}) == 14
    assert len({row[0] for row in rows_of(many_block_page, "search-history-table")}) == 14


def test_photographs_are_made_small_and_few(many_block_page):
    pictures = re.findall(r"data:image/(\w+);base64,([^\"]+)", many_block_page)

    assert {kind for kind, _ in pictures} == {"webp"}
    assert len(pictures) <= 8, "one sheet of small images a block"
    assert sum(len(text) for _, text in pictures) < 400_000


def test_losses_are_in_the_order_of_their_ranks_and_those_without_one_last(many_block_results):
    best_first = list(many_block_results.tournament.names)
    having = {"zzz", "aaa", *best_first[1:]}

    assert ranked_losses(many_block_results, having) == [*best_first[1:], "aaa", "zzz"]


def test_the_more_lines_a_figure_has_the_fewer_points_each():
    assert points_of_line(4) == 300
    assert points_of_line(80) == 100
    assert points_of_line(100_000) == 6
