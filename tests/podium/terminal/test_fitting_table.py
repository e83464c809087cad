"""Tables in the width of a terminal: which columns are shown, and that nothing is torn."""

import textwrap

import pytest

from podium.terminal.fitting_table import fitted_text, fitting_table

ROWS = [
    {"loss": "contrastive", "seconds": 12.5, "test": 0.61, "note": "none"},
    {"loss": "multi_similarity", "seconds": 9.0, "test": 0.59, "note": "a long remark"},
]
COLUMNS = ("loss", "note", "seconds", "test")


def fitted(width, *, rows=ROWS, columns=COLUMNS, worth=("loss", "test"), **options):
    return fitting_table(rows, columns=columns, worth=worth, width=width, **options)


def left_out(width, **options):
    return fitted(width, **options)[1]


def test_what_fits_is_shown_in_the_order_of_the_table():
    lines = [
        "loss              note           seconds  test",
        "contrastive       none              12.5  0.61",
        "multi_similarity  a long remark        9  0.59",
    ]
    assert fitted(80) == (lines, [])


def test_columns_go_that_are_worth_least():
    assert left_out(46) == []
    assert left_out(45) == ["seconds"]  # `note`, before it, has room
    assert left_out(36) == ["note"]  # a narrower column behind it has room
    assert left_out(30) == ["note", "seconds"]
    assert left_out(21) == ["note", "seconds", "test"]
    assert left_out(21, num_kept=2) == ["note", "seconds"]


@pytest.mark.parametrize("width", range(10, 60))
def test_no_line_is_wider_than_asked_for(width):
    rows = [{**row, "loss": f"block/of/some/network {row['loss']}"} for row in ROWS]
    lines, left_out = fitted(width, rows=rows, num_kept=2)
    assert all(len(line) <= width for line in lines)
    assert {*left_out, *lines[0].split()} == {*COLUMNS}


def test_the_first_column_loses_its_middle_only_where_those_always_shown_do_not_fit():
    rows = [{"search": "cub200/resnet50/512 multi_similarity", "done": "10/50"}]
    options = {"rows": rows, "columns": ("search", "done"), "worth": ("search", "done")}
    assert fitted(43, num_kept=2, **options)[0][1] == f"{rows[0]['search']}  10/50"
    assert fitted(30, num_kept=2, **options)[0][1] == "cub200/…ulti_similarity  10/50"
    assert fitted(36, **options)[0][1] == rows[0]["search"]


def test_a_column_may_lose_its_last_words_to_fit():
    lines, left_out = fitted(29, cut="note", worth=("loss", "note"))
    assert [line.split("  ")[-1].strip() for line in lines] == ["note", "none", "a long …"]
    assert left_out == ["seconds", "test"]


def test_an_escape_sequence_is_measured_as_it_is_shown():
    rows = [{"loss": "\x1b[2J", "test": 1.0}]
    options = {"rows": rows, "columns": ("loss", "test")}
    assert fitted(13, **options)[0][1] == r"\x1b[2J     1"
    assert left_out(12, **options) == ["test"]


def test_what_was_left_out_is_named_below_the_table(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    text = fitted_text(ROWS, columns=COLUMNS, worth=("loss", "test"))
    assert all(len(line) <= 30 for line in text.splitlines())
    line = "Not shown for lack of room: note and seconds. --csv has all."
    assert text.endswith(f"\n{textwrap.fill(line, 30)}")
    monkeypatch.setenv("COLUMNS", "46")
    assert "No room" not in fitted_text(ROWS, columns=COLUMNS, worth=("loss", "test"))
