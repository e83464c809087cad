"""The page of the thesis's published table says what the table supports, and no more."""

import re
from pathlib import Path

import pytest

from podium.analysis.typed_tables.score_table import read_table
from tests.analysis.page_text import rows_of, table_page, text_of

CUB200 = Path(__file__).parents[2] / "data" / "thesis_recall_cub200.csv"
BY = ("dataset", "backbone", "embedding_dim")


def page_of_published(path=CUB200, **options):
    table = read_table(
        path, **{"by": BY, "competitor": "loss", "score": "recall", "where": ["k=1"], **options}
    )
    return table_page(table, title="CUB200-2011", source="typed from the thesis")


@pytest.fixture(scope="module")
def thesis_text():
    return text_of(page_of_published())


def test_in_place_of_an_interval_it_says_that_three_groups_are_too_few(thesis_text):
    assert "No interval: it takes 5 groups, and with 3 the probabilities only show" in thesis_text
    for row in rows_of(page_of_published(), "leaderboard"):
        assert row[3] == "–"


def test_totals_are_those_of_the_thesis(thesis_text):
    totals = [12, 38, 51, 52, 54, 70, 79, 81, 103, 120]
    board = thesis_text[thesis_text.index("Competitor Rank") : thesis_text.index("Shared ranks: ")]

    assert [int(total) for total in re.findall(r" \d+\.\d+ – (\d+) ", board)] == totals


def test_two_competitors_and_a_hostile_name_make_a_page(tmp_path):
    path = tmp_path / "two.csv"
    lines = [f"{b},{c},{s}" for b in "xyz" for c, s in (("<b>bold</b>", 2), ("plain", 1))]
    path.write_text("\n".join(["block,loss,recall", *lines]) + "\n")
    html = page_of_published(path, by=("block",), where=())

    assert "<b>" not in html
    assert "A critical difference needs at least three competitors" in html
    assert "no pair can differ significantly, however large its gap" in text_of(html)


def test_the_table_is_printed_as_in_the_thesis_with_its_figures_and_every_k():
    html = page_of_published()
    scores = {row[0]: row[1:] for row in rows_of(html, "scores-0")}
    every_k = {row[0]: row[1:] for row in rows_of(html, "every-k-0")}  # BNInception

    assert scores["SoftTriple"][:4] == ["58.07", "63.44", "66.76", "67.44"]
    assert every_k["SoftTriple"][:2] == ["58.07", "69.42"]
    assert '<figure id="by-dimension">' in html
    assert '<figure id="by-backbone">' in html
    assert "CUB200-2011: recall@1, 120 scores; the best of each column is bold." in text_of(html)


def test_a_table_of_very_many_blocks_has_them_below_each_other(tmp_path):
    path = tmp_path / "many.csv"
    lines = [f"block {b:02},{c},{b + 0.5 * (c == 'z')}" for b in range(30) for c in "yz"]
    path.write_text("\n".join(["block,loss,recall", *lines]) + "\n")
    html = page_of_published(path, by=("block",), where=())

    assert [row[0] for row in rows_of(html, "scores")][:2] == ["block 00", "block 01"]
