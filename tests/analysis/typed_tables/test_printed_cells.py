import polars as pl
import pytest

from analysis.typed_tables.printed_cells import (
    numbers_of,
    plain_number,
    typed_column,
    without_latex,
    without_markdown,
)


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("63.6", "63.6"),
        ("63,6", "63.6"),
        (" 63.6 % ", "63.6"),
        (r"63.6\%", "63.6"),
        ("63.6±0.5", "63.6"),
        ("63.6 +/- 0.5", "63.6"),
        (r"$63.6 \pm 0.5$", "63.6"),
        (r"$63.6_{\pm 0.5}$", "63.6"),
        ("$63.6_{0.5}$", "63.6"),
        (r"\textbf{63.6}$^{\dagger}$", "63.6"),
        (r"\underline{\textbf{63.6}}", "63.6"),
        (r"{\bf 63.6}", "63.6"),
        (r"\cellcolor{gray!20}63.6", "63.6"),
        (r"\textcolor{red}{63.6}", "63.6"),
        ("**63.6**", "63.6"),
        ("_63.6_", "63.6"),
        ("<b>63.6</b>", "63.6"),
        ("63.6 (+1.2)", "63.6"),
        ("63.6*", "63.6"),
        ("−0.5", "-0.5"),
        (".61", ".61"),
        ("", ""),
        ("-", ""),
        ("---", ""),
        ("–", ""),
        ("NaN", ""),
        ("n/a", "n/a"),
        ("63.6 0.5", "63.6 0.5"),
        ("1,234.5", "1,234.5"),
        ("6o.1", "6o.1"),
    ],
)
def test_the_number_of_a_cell_is_what_is_printed_without_what_is_around_it(cell, number):
    assert plain_number(cell) == number


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (r"Proxy-NCA\texttt{++}~\cite{teh2020}", "Proxy-NCA++"),
        (r"\textbf{Ours} (ResNet\_50)", "Ours (ResNet_50)"),
        (r"R@1 $\uparrow$", "R@1 ↑"),
        (r"\ours", "ours"),
        (r"A \& B", "A & B"),
        ("CUB-200-2011$^*$", "CUB-200-2011"),
    ],
)
def test_names_lose_their_latex(cell, text):
    assert without_latex(cell) == text


def test_names_lose_their_markdown():
    cell = r"[**MS**](https://example.org) <br> \| `x`"
    assert without_markdown(cell) == "MS | x"


def test_a_column_is_of_numbers_only_if_each_of_its_cells_is_one():
    assert typed_column(pl.Series(["64", "128"])).to_list() == [64, 128]
    assert typed_column(pl.Series(["64,5", "-", None])).to_list() == [64.5, None, None]
    assert typed_column(pl.Series(["64", "x"])).to_list() == ["64", "x"]
    assert typed_column(pl.Series(["-", "-"])).to_list() == ["-", "-"]


def test_what_is_no_number_is_told_from_what_is_missing():
    numbers, is_wrong = numbers_of(pl.Series(["1", "-", None, "x", "2 %"]))
    assert numbers.to_list() == [1, None, None, None, 2]
    assert is_wrong.to_list() == [False, False, False, True, False]
