"""All that commands print: lines, and tables and values as text, JSON or CSV.

What the encoding of the standard output lacks is printed in plain letters, or spelt out.

What comes from files may hold anything. Lines and tables show control characters instead of
sending them to the terminal; JSON spells them out, and reads as what it was. CSV stays as it is.
"""

import codecs
import csv
import io
import json
import math
import os
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

import typer

from podium.orchestrator.results.storage.printable_text import json_visible, visible

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Row = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How an answer is printed: as text, or as JSON, or else as CSV."""

    as_json: AsJson = False
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False

    def __post_init__(self) -> None:
        if self.as_json and self.as_csv:
            raise typer.BadParameter("--json and --csv exclude each other: give one of them")

    @property
    def is_text(self) -> bool:
        """Whether it is printed to be read."""
        return not (self.as_json or self.as_csv)


AS_TEXT = Form()

# What podium's own texts hold beyond ASCII, in plain letters.
_PLAIN = {
    "–": "-", "−": "-", "—": "-", "─": "-", "│": "|", "├": "|", "└": "|", "±": "+-", "×": "x",
    "²": "^2", "χ": "chi", "ε": "epsilon", "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "∞": "inf",
    "√": "sqrt", "→": "->", "←": "<-", "…": "...", "·": "-", "“": '"', "”": '"', "✓": "yes",
    "✗": "no",
}  # fmt: skip
_ERRORS = "podium-plain"
_UNITS = ("B", "kB", "MB", "GB", "TB")


def print_in_any_encoding() -> None:
    """Let the standard output print every text, whatever its encoding."""
    codecs.register_error(_ERRORS, _plainly)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_ERRORS)


def _plainly(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    found = error.object[error.start : error.end]
    spelt = (_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in found)
    return "".join(spelt), error.end


def say(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text with its control characters spelt out."""
    typer.echo(visible(str(text)), err=err, nl=nl)


def print_table(
    rows: Sequence[Row],
    *,
    columns: Sequence[str] = (),
    form: Form = AS_TEXT,
) -> None:
    """Print rows of plain values as text, as a JSON list of objects, or as CSV with a header.

    Args:
        rows: mappings of column to value; None and NaN are ``-`` as text, null in JSON and empty
            in CSV.
        columns: names of the columns to print, in their order; () means those of the first row.
        form: as text, JSON or CSV.
    """
    chosen = list(columns or (rows[0] if rows else ()))
    if form.as_json:
        print_json([{name: row.get(name) for name in chosen} for row in rows])
    elif form.as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(chosen)
        writer.writerows([without_nan(row.get(name)) for name in chosen] for row in rows)
    else:
        say(table_text(rows, columns=chosen))


def print_json(value: object) -> None:
    """Print plain values as indented JSON; NaN and infinities become null."""
    text = json_text(value)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json_text(value, ascii_only=True)
    typer.echo(text)


def json_text(value: object, *, ascii_only: bool = False) -> str:
    """Plain values and paths as indented JSON; NaN and infinities become null."""
    plain = without_nan(value)
    return json_visible(
        json.dumps(plain, indent=2, ensure_ascii=ascii_only, allow_nan=False, default=os.fspath)
    )


def filled(text: str, width: int = 80) -> str:
    """A paragraph in lines of at most ``width`` columns; words with hyphens stay whole."""
    return textwrap.fill(text, width, break_on_hyphens=False)


def paragraphs(parts: Iterable[str], width: int = 80) -> str:
    """Paragraphs with a blank line between them; what has lines already, as tables, stays."""
    return "\n\n".join(part if "\n" in part else filled(part, width) for part in parts)


def table_text(rows: Sequence[Row], *, columns: Sequence[str] = ()) -> str:
    """Aligned text with a header line: numbers to the right, floats with 4 digits.

    No rows give the header alone. The columns are those of the first row unless they are given.
    """
    columns = columns or list(rows[0])
    cells = [[cell_text(row.get(name)) for name in columns] for row in rows]
    return aligned([list(columns), *cells], [is_numeric(rows, name) for name in columns])


def aligned(lines: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """Lines of texts below each other.

    Args:
        lines: a text for each column in each line; the first line is the header.
        right: of each column, whether it is aligned to the right.
    """
    shown = [[cell_text(text) for text in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    return "\n".join(
        "  ".join(
            text.rjust(width) if is_right else text.ljust(width)
            for text, width, is_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in shown
    )


def cell_text(value: object) -> str:
    """A value as a cell of a table: one line, its control characters spelt out."""
    value = without_nan(value)
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return visible(" ".join(text.splitlines()) if "\n" in text or "\r" in text else text)


def bytes_text(num_bytes: int | None) -> str:
    """``41.2 MB``: three digits and a decimal unit; a dash for None."""
    if num_bytes is None:
        return "-"
    value, power = float(num_bytes), 0
    while value >= 999.5 and power < len(_UNITS) - 1:
        value, power = value / 1000, power + 1
    digits = 0 if power == 0 or value >= 99.95 else 1
    return f"{value:.{digits}f} {_UNITS[power]}"


def minute_text(moment: datetime | None) -> str:
    """``2026-11-23 20:10`` in the time zone of this machine; a dash for None."""
    return "-" if moment is None else f"{moment.astimezone():%Y-%m-%d %H:%M}"


def is_numeric(rows: Sequence[Row], column: str) -> bool:
    """Whether a column holds nothing but numbers and None; True without rows."""
    return all(_is_number(row.get(column)) for row in rows)


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def without_nan(value: object) -> object:
    """``value`` with every float that is not finite replaced by None, at any depth."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): without_nan(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(item) for item in value]
    return value
