"""The page of the thesis's published table says what the table supports, and no more."""

from pathlib import Path

from podium.analysis.typed_tables.score_table import read_table
from podium.analysis.typed_tables.table_options import TableOptions
from tests.analysis.page_text import rows_of, table_page, text_of

CUB200 = Path(__file__).parents[2] / "data" / "thesis_recall_cub200.csv"
BY = ("dataset", "backbone", "embedding_dim")


def page_of_published(path=CUB200, **options):
    table = read_table(
        path,
        TableOptions(
            **{"by": BY, "competitor": "loss", "score": "recall", "where": ["k=1"], **options}
        ),
    )
    return table_page(table, title="CUB200-2011", source="typed from the thesis")


def test_totals_are_those_of_the_thesis():
    totals = [12, 38, 51, 52, 54, 70, 79, 81, 103, 120]
    assert [int(row[3]) for row in rows_of(page_of_published(), "leaderboard")] == totals


def test_two_competitors_and_a_hostile_name_make_a_page(tmp_path):
    path = tmp_path / "two.csv"
    lines = [f"{b},{c},{s}" for b in "xyz" for c, s in (("<b>bold</b>", 2), ("plain", 1))]
    path.write_text("\n".join(["block,loss,recall", *lines]) + "\n")
    html = page_of_published(path, by=("block",), where=())

    assert "<b>" not in html
    assert "it takes 6 settings; these are 3." in text_of(html)


def test_the_table_is_printed_as_in_the_thesis_with_its_figures_and_every_k():
    html = page_of_published()
    scores = {row[0]: row[1:] for row in rows_of(html, "scores-0")}
    every_k = {row[0]: row[1:] for row in rows_of(html, "every-k-0")}  # BNInception

    assert scores["SoftTriple"][:4] == ["58.07", "63.44", "66.76", "67.44"]
    assert every_k["SoftTriple"][:2] == ["58.07", "69.42"]
    assert '<figure id="by-dimension">' in html
    assert '<figure id="by-backbone">' in html
    assert "CUB200-2011: recall@1 by embedding dimension; the best" in text_of(html)


def test_a_table_of_very_many_blocks_has_them_below_each_other(tmp_path):
    path = tmp_path / "many.csv"
    lines = [f"block {b:02},{c},{b + 0.5 * (c == 'z')}" for b in range(30) for c in "yz"]
    path.write_text("\n".join(["block,loss,recall", *lines]) + "\n")
    html = page_of_published(path, by=("block",), where=())

    assert [row[0] for row in rows_of(html, "scores")][:2] == ["block 00", "block 01"]
