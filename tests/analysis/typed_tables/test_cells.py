import polars as pl
import pytest

from podium.analysis.typed_tables.cells import commas_of, numbers_of, typed_column


def number_of(cell, commas="none"):
    numbers, is_wrong = numbers_of(pl.Series([cell]), commas)
    return "wrong" if is_wrong[0] else numbers[0]


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("63.6", 63.6), ("63.6 %", 63.6), ("63.6±0.5", 63.6), ("63.6 +/- 0.5", 63.6),
        ("63.6 (+1.2)", 63.6), ("63.6 [12]", 63.6), ("63.6*", 63.6), ("63.6^†", 63.6),
        ("63.6^a", 63.6), ("−0.5", -0.5), (".61", 0.61), ("1e-3", 0.001),
        ("", None), ("-", None), ("---", None), ("–", None), ("n/a", "wrong"),
        ("63.6 0.5", "wrong"), ("6o.1", "wrong"), ("63^1", "wrong"), ("63¹", "wrong"),
        ("**63**", "wrong"), (r"63\std{5}", "wrong"), ("63,6", "wrong"), ("63/70", "wrong"),
    ],
)  # fmt: skip
def test_a_number_is_one_with_what_may_follow_it(cell, number):
    assert number_of(cell) == number


@pytest.mark.parametrize(
    ("cells", "commas", "numbers"),
    [
        (["1", "2.5"], "none", [1, 2.5]),
        (["63,6", "64"], "decimal", [63.6, 64]),
        (["0,288", "537"], "decimal", [0.288, 537]),
        (["2,288", "63,5 ± 1,2"], "decimal", [2.288, 63.5]),
        (["2,288.5", "537"], "thousands", [2288.5, 537]),
        (["1,234,567", "2,288"], "thousands", [1234567, 2288]),
        (["2,288", "61.5"], "thousands", [2288, 61.5]),
        (["2,288", "537"], "ambiguous", ["wrong", 537]),
        (["63,6", "61.5"], "ambiguous", ["wrong", 61.5]),
        (["a, b", "1"], "none", ["wrong", 1]),
    ],
)
def test_what_commas_are_has_to_show_in_the_table(cells, commas, numbers):
    assert commas_of([pl.Series(cells)]) == commas
    assert [number_of(cell, commas) for cell in cells] == numbers


def test_a_column_is_of_numbers_only_if_each_of_its_cells_is_one():
    assert typed_column(pl.Series(["64", "128"]), "none").to_list() == [64, 128]
    assert typed_column(pl.Series(["64,5", "-", None]), "decimal").to_list() == [64.5, None, None]
    assert typed_column(pl.Series(["64", "x"]), "none").to_list() == ["64", "x"]
    assert typed_column(pl.Series(["-", "-"]), "none").to_list() == ["-", "-"]
