"""Tables as LaTeX: their values at their place, and nothing in a text is a command.

The oracle for escaping is a small reader of LaTeX written for the tests.
"""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.analysis.figures.series import series_of
from podium.analysis.page.latex_tables import latex_table
from podium.analysis.page.tables import Cell, Column, Table


def table_with(rows, columns=None, **values):
    columns = columns or [
        Column(label=f"c{position}", is_number=position > 0) for position in range(len(rows[0]))
    ]
    cells = tuple(
        tuple(cell if isinstance(cell, Cell) else Cell(text=cell) for cell in row) for row in rows
    )
    options = {"name": "scores-1", "caption": "A caption", "columns": tuple(columns)}
    return Table(**{**options, **values}, rows=cells)


def tokens(text):
    """Commands, escaped characters and single characters, as TeX reads them."""
    return re.findall(r"\\(?:[a-zA-Z]+|.)|.", text, re.DOTALL)


def body_rows(latex):
    """The cells of each row after the head's rule, as they are written."""
    body = latex.rpartition(r"\midrule")[2].partition(r"\bottomrule")[0]
    if r"\endfoot" in latex:
        body = latex.rpartition(r"\endfoot")[2].partition(r"\end{longtable}")[0]
    rows = []
    for line in body.strip().splitlines():
        cells = [""]
        found = tokens(line.strip())
        assert found[-1] == r"\\"
        for token in found[:-1]:
            if token == "&":
                cells.append("")
            else:
                cells[-1] += token
        rows.append([cell.strip() for cell in cells])
    return rows


def test_values_stand_in_their_rows_and_columns():
    latex = latex_table(table_with([["a", "1.00", "2.00"], ["b", "3.00", "4.00"]]))

    assert body_rows(latex) == [["a", "1.00", "2.00"], ["b", "3.00", "4.00"]]
    assert r"\begin{tabular}{@{}lrr@{}}" in latex
    assert r"\multicolumn" not in latex


def test_what_is_no_competitor_is_one_block_below_a_rule():
    look = series_of(["a"], ranked=["a"])["a"]
    latex = latex_table(table_with([[Cell(text="a", series=look), "1"], ["u", "2"], ["v", "3"]]))

    block = ["    \\midrule", "    u & 2 \\\\", "    v & 3 \\\\", "    \\bottomrule"]
    assert "\n".join(["    a & 1 \\\\", *block]) in latex


def test_caption_label_note_and_rules_are_there():
    latex = latex_table(table_with([["a", "1"]], caption="20 % of it", note="of 3_seeds"))

    assert r"\caption{20 \% of it}" in latex
    assert r"\label{tab:scores-1}" in latex
    assert r"of 3\_seeds" in latex[latex.index(r"\bottomrule") :]
    assert [latex.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]


def test_the_best_is_bold_and_the_detail_stays_in_its_cell():
    latex = latex_table(table_with([["a", Cell(text="1.00", detail="± 0.50", is_best=True)]]))

    assert body_rows(latex) == [["a", r"\textbf{1.00}\,{\scriptsize $\pm$ 0.50}"]]


def test_numbers_align_where_some_have_a_detail():
    latex = latex_table(table_with([["a", Cell(text="1.00", detail="± 0.50")], ["b", "2.00"]]))

    assert body_rows(latex)[1] == ["b", r"2.00\hphantom{\,{\scriptsize $\pm$ 0.50}}"]


def test_groups_of_columns_have_a_head_and_a_rule():
    columns = [
        Column(label="Loss", is_number=False),
        *(Column(label=dim, group="ResNet50") for dim in ("64", "512")),
        Column(label="64", group="Google_Net"),
    ]
    latex = latex_table(table_with([["a", "1", "2", "3"]], columns))
    groups = latex.index(r"\multicolumn{1}{c}{} & \multicolumn{2}{c}{ResNet50}")

    assert r"\multicolumn{1}{c}{Google\_Net} \\" in latex
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-4}" in latex
    assert groups < latex.index(r"\cmidrule") < latex.index("Loss & 64 & 512 & 64")


def test_forty_rows_float_and_more_break_over_pages():
    rows = [[f"loss {number}", "1.00"] for number in range(41)]
    short, long = latex_table(table_with(rows[:40])), latex_table(table_with(rows, note="below"))

    assert r"\begin{table}" in short
    assert "longtable" not in short
    assert long.startswith("% \\usepackage{booktabs}\n% \\usepackage{longtable}, and LaTeX run")
    assert len(body_rows(long)) == 41
    assert long.index(r"\end{longtable}") < long.index("below")


def test_only_packages_that_are_used_are_asked_for():
    wide = [["a", *["12.34"] * 20]]
    prose = [["a", "word " * 20]]
    columns = [Column(label=label, is_number=False) for label in "xy"]

    assert "graphicx" not in latex_table(table_with([["a", "1"]]))
    assert r"% \usepackage{graphicx}" in latex_table(table_with(wide))
    assert r"\resizebox{\linewidth}{!}" in latex_table(table_with(wide))
    assert r"% \usepackage{array}" in latex_table(table_with(prose, columns))


def test_a_wide_table_over_several_pages_is_set_in_small_type_of_its_own():
    wide = latex_table(table_with([["a", *["12.34"] * 20]] * 41))
    narrow = latex_table(table_with([["a", "12.34"]] * 41))

    assert "graphicx" not in wide
    assert wide.index(r"\begingroup\scriptsize") < wide.index(r"\begin{longtable}")
    assert wide.index(r"\end{longtable}") < wide.index(r"\endgroup")
    assert "group" not in narrow


def test_letters_beyond_the_usual_fonts_are_kept_and_named():
    latex = latex_table(table_with([["日本 é", "1"]]))

    assert "% lualatex or xelatex, with a font that has: 日本\n" in latex
    assert body_rows(latex)[0][0] == "日本 é"


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("a_b", r"a\_b"),
        ("5 %", r"5 \%"),
        ("a & b", r"a \& b"),
        ("#1", r"\#1"),
        ("{x}", r"\{x\}"),
        ("~", r"\textasciitilde{}"),
        ("^", r"\textasciicircum{}"),
        ("\\", r"\textbackslash{}"),
        ("$", r"\$"),
        ("<", r"\textless{}"),
        ("−0.30", "$-$0.30"),
        ("–", "--"),
        ("--failed", "-{}-failed"),
        ("---", "-{}-{}-"),
        ("p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0.02", "p~=~0.02"),
        ("two\n lines\t", "two lines "),
    ],
)
def test_special_characters_are_printed_not_obeyed(text, latex):
    assert body_rows(latex_table(table_with([["x", text]])))[0][1] == latex.strip()


def test_a_bracket_or_star_after_the_end_of_a_row_is_no_argument_of_it():
    rows = body_rows(latex_table(table_with([["[0.2, 0.3]", "1"], ["*", "2"], ["[x", "3"]])))

    assert not any(row[0].startswith(("[", "*")) for row in rows)


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(st.text(max_size=12) | st.text("\\{}&%#_$~^-[]*\n", max_size=8)).map(
                lambda row: [*row, *[""] * width][:width]
            ),
            min_size=1,
            max_size=5,
        )
    ),
    st.text(max_size=30),
)
def test_any_text_leaves_braces_balanced_and_rows_as_wide_as_the_head(rows, caption):
    latex = latex_table(table_with(rows, caption=caption, note=caption))
    lines = [line for line in latex.splitlines() if not line.startswith("%")]
    found = tokens("\n".join(lines))

    depth = 0
    for token in found:
        depth += (token == "{") - (token == "}")
        assert depth >= 0
    assert depth == 0
    assert "%" not in found  # would swallow the rest of the line
    assert not {"#", "~~", "^", "_"} & set(found)
    assert found.count("$") % 2 == 0
    assert [len(row) for row in body_rows(latex)] == [len(rows[0])] * len(rows)
