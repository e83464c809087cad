import csv
import io
import json

import pytest

from podium.printing import print_json, print_table, table_text

ROWS = [
    {"name": "a", "count": 3, "score": 0.123456, "is_best": True},
    {"name": "longer", "count": 12, "score": float("nan"), "is_best": False},
    {"name": "c", "count": None, "score": 2.0, "is_best": None},
]


def test_text_is_aligned_numbers_to_the_right():
    assert table_text(ROWS, columns=("name", "count", "score", "is_best")).splitlines() == [
        "name    count   score  is_best",
        "a           3  0.1235  yes",
        "longer     12       -  no",
        "c           -       2  -",
    ]


def test_columns_are_chosen_and_ordered():
    assert table_text(ROWS[:1], columns=("count", "name")).splitlines() == [
        "count  name",
        "    3  a",
    ]


def test_a_table_without_rows_is_its_header(capsys):
    print_table([], columns=("a", "b"))
    assert capsys.readouterr().out == "a  b\n"


def test_json_has_null_for_what_is_no_number(capsys):
    print_table(ROWS, as_json=True)
    assert json.loads(capsys.readouterr().out) == [
        ROWS[0],
        {**ROWS[1], "score": None},
        ROWS[2],
    ]


def test_csv_is_empty_for_what_is_no_number(capsys):
    print_table(ROWS, columns=("name", "score"), as_csv=True)
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows == [["name", "score"], ["a", "0.123456"], ["longer", ""], ["c", "2.0"]]


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), float("nan")])
def test_json_is_valid_at_any_depth(capsys, value):
    print_json({"a": [{"b": (value, 1.0)}]})
    assert json.loads(capsys.readouterr().out) == {"a": [{"b": [None, 1.0]}]}


def test_a_line_break_in_a_cell_does_not_tear_the_row():
    assert table_text([{"loss": "a\nb", "n": 1}], columns=["loss", "n"]) == "loss  n\na b   1"
