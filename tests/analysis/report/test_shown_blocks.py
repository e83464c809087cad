"""A page shows a few blocks of many, and says so."""

import re

import polars as pl
import pytest

from analysis.report.report import study_page
from analysis.report.shown_blocks import drawn_rows, spread_blocks
from analysis.study_results.study_results import read_results
from benchmarks.synthetic_store import Size, write_synthetic_store
from tests.analysis.page_text import rows_of, text_of

MANY = Size(
    backbones=("resnet50",), losses=("contrastive", "triplet", "margin"), trials=5, seeds=2,
    epochs=6, test_classes=5,
)  # fmt: skip


@pytest.fixture(scope="module")
def many_block_results(tmp_path_factory):
    return read_results(write_synthetic_store(tmp_path_factory.mktemp("store") / "s", MANY))


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


def test_few_panels_are_drawn_and_the_tables_have_every_block(many_block_page):
    assert len(re.findall(r'<title id="curves-\d+-title"', many_block_page)) == 6
    assert len(re.findall(r'<title id="history-\d+-title"', many_block_page)) == 6
    assert text_of(many_block_page).count("6 of 14 blocks are drawn, spread evenly") == 2
    assert len({row[0] for row in rows_of(many_block_page, "learning-curves-table")}) == 14
    assert len({row[0] for row in rows_of(many_block_page, "search-history-table")}) == 14


def test_photographs_are_made_small_and_few(many_block_page):
    pictures = re.findall(r"data:image/(\w+);base64,([^\"]+)", many_block_page)

    assert {kind for kind, _ in pictures} == {"webp"}
    assert len(pictures) <= 200
    assert max(len(text) for _, text in pictures) < 6_000


def test_of_many_losses_the_best_are_drawn_and_those_without_a_rank_last(many_block_results):
    best_first = list(many_block_results.tournament.names)
    others = [f"unranked_{position:02}" for position in range(20)]
    names = [*others, *best_first]
    rows = pl.DataFrame({"block": "glyphs-greek", "loss": names})
    drawn, losses, note = drawn_rows(many_block_results, rows, most_blocks=6)

    assert losses == sorted([*best_first, *others[:9]])
    assert drawn["loss"].to_list() == [name for name in names if name in losses]
    assert note.startswith(" 12 of 23 losses are drawn")
    ranked = rows.filter(pl.col("loss").is_in(best_first))
    assert drawn_rows(many_block_results, ranked, most_blocks=6)[2] == ""
