import ast
import csv
import io
import json
import sys
import unicodedata
from pathlib import Path

import pytest

import podium
from podium.orchestrator.results.storage.printable_text import one_line, visible
from podium.terminal.printing import (
    Form,
    bytes_text,
    print_in_any_encoding,
    print_json,
    print_table,
    say,
    table_text,
)

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


def test_a_table_without_rows_is_its_header(capsys):
    print_table([], columns=("a", "b"))
    assert capsys.readouterr().out == "a  b\n"


def test_json_has_null_for_what_is_no_number(capsys):
    print_table(ROWS, form=Form(as_json=True))
    assert json.loads(capsys.readouterr().out) == [
        ROWS[0],
        {**ROWS[1], "score": None},
        ROWS[2],
    ]


def test_csv_is_empty_for_what_is_no_number(capsys):
    print_table(ROWS, columns=("name", "score"), form=Form(as_csv=True))
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows == [["name", "score"], ["a", "0.123456"], ["longer", ""], ["c", "2.0"]]


def test_a_line_break_in_a_cell_does_not_tear_the_row():
    assert table_text([{"loss": "a\nb", "n": 1}], columns=["loss", "n"]) == "loss  n\na b   1"


HOSTILE = "a\x1b]0;owned\x07b\rc\x9bd\u202ee\x7f\u2028\ud800"
SHOWN = r"a\x1b]0;owned\x07b\x0dc\x9bd\u202ee\x7f\u2028\ud800"


def test_control_characters_are_spelt_out_and_words_of_any_language_stay():
    assert visible(HOSTILE) == SHOWN
    assert visible(SHOWN) == SHOWN
    words = "Größe 漢字 می\u200cخواهم [red]x[/red] :smile:\tEnd\n"
    assert visible(words) == words
    assert one_line("one\ntwo") == r"one\ntwo"


def test_every_character_that_python_calls_a_control_is_spelt_out():
    kinds = {"Cc", "Cs", "Zl", "Zp"}
    turning = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}
    for number in range(0x110000):
        character = chr(number)
        is_control = (
            unicodedata.category(character) in kinds
            or unicodedata.bidirectional(character) in turning
        )
        if is_control and character not in "\t\n":
            assert visible(character) != character, hex(number)


def test_lines_and_tables_send_no_control_character_to_the_terminal(capsys):
    say(HOSTILE)
    print_table([{HOSTILE: HOSTILE, "n": 1}])
    line, head, row = capsys.readouterr().out.splitlines()
    assert line == SHOWN
    cell = SHOWN.replace(r"\x0d", " ").replace(r"\u2028", " ")  # a row is one line
    assert (head, row) == (f"{cell}  n", f"{cell}  1")


def test_json_shows_no_control_character_and_reads_as_what_it_was(capsys):
    print_json({HOSTILE: HOSTILE})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {HOSTILE: HOSTILE}
    assert not set(printed) & set(HOSTILE) - set(SHOWN)


def test_nothing_in_podium_prints_but_by_this_module():
    against = []
    for path in Path(podium.__file__).parent.rglob("*.py"):
        if path.name == "printing.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                text = ast.unparse(node)
                is_raw = called in {"print", "typer.echo", "typer.secho", "click.echo"}
                is_raw |= called.endswith((".stdout.write", ".stderr.write"))
                is_raw |= called == "console.print" and "_plain(" not in text
                if is_raw and "json_visible(" not in text:
                    against.append(f"{path}:{node.lineno}: {text}")
    assert against == []


@pytest.mark.parametrize(
    ("num_bytes", "text"),
    [
        (None, "-"),
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (99_950, "100 kB"),
        (999_500, "1.0 MB"),
        (41_234_567, "41.2 MB"),
        (1.5e15, "1500 TB"),
    ],
)
def test_sizes_have_two_or_three_digits_and_a_unit(num_bytes, text):
    assert bytes_text(num_bytes) == text


def test_what_an_encoding_lacks_is_plain_in_text_and_escaped_in_json(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding="latin-1"))
    print_in_any_encoding()
    say("χ² ≤ 3 – Größe 漢")
    print_json({"χ": "漢"})
    sys.stdout.flush()
    shown = written.getvalue().decode("latin-1")
    first, _, rest = shown.partition("\n")
    assert first == "chi² <= 3 - Größe \\u6f22"
    assert json.loads(rest) == {"χ": "漢"}
