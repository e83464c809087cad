"""Reads tables from text: CSV with any separator, LaTeX and Markdown, with one header row or more.

The text says which it is: the ending of a file's name does not count.
"""

import codecs
import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from analysis.typed_tables.latex_tables import Row, is_latex, latex_rows
from analysis.typed_tables.printed_cells import plain_number, without_markdown, without_markup
from analysis.typed_tables.score_names import k_of, score_name
from podium.errors import CorruptFileError, PodiumError

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SEPARATORS = ("\t", ";", "|", ",")  # commas last: they may be decimal
_SAMPLE = 20  # lines that decide on the separator
_MARKDOWN_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*")
_SPACED = re.compile(r"\s{2,}")
_MOST_HEADERS = 3
_AT_K = re.compile(r"\b(r|recall)\s*@\s*k\b|\bk\s*=?\s*$", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """A table of text.

    Attributes:
        names: names of the columns, those of several header rows joined.
        rows: cells of each row, as many as there are names.
        lines: line of the file in which each row begins, from 1.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]


def decoded(raw: bytes, *, source: str) -> str:
    """The text of a file in UTF-8 or UTF-16, with the line ends of Unix.

    Raises:
        CorruptFileError: it is neither.
    """
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if raw.startswith(mark)), None)
    if encoding is None:
        encoding = _encoding_without_mark(raw[:400])
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise CorruptFileError(
            f"{source} cannot be read as a table: it is no UTF-8 text; save it as CSV in UTF-8"
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _encoding_without_mark(start: bytes) -> str:
    """UTF-16 has a zero in every other byte of Latin letters."""
    for offset, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        if len(start) > 3 and start[offset::2].count(0) > len(start) * 0.4:
            return name
    return "utf-8"


def text_table(text: str, *, source: str) -> TextTable:
    """The table of a text.

    Raises:
        PodiumError: there are several tables, two columns have one name, or there is no row.
        CorruptFileError: the text is empty, or a row has more cells than the header.
    """
    if is_latex(text):
        rows = latex_rows(text, source=source)
    elif is_markdown(text):
        rows = _markdown_rows(text, source=source)
    else:
        rows = _delimited_rows(text, source=source)
    if not rows:
        raise CorruptFileError(f"{source} cannot be read as a table: it is empty")
    num_headers = header_count([cells for _, cells in rows[: _MOST_HEADERS + 1]])
    names = joined_names([cells for _, cells in rows[:num_headers]], source=source)
    body = rows[num_headers:]
    for line, cells in body:
        if len(cells) > len(names) and any(cells[len(names) :]):
            raise CorruptFileError(
                f"{source} cannot be read as a table: line {line} has {len(cells)} cells, the"
                f" header {len(names)}; a row has more cells than the header"
            )
    whole = [tuple((*cells, *[""] * len(names))[: len(names)]) for _, cells in body]
    return TextTable(names=names, rows=tuple(whole), lines=tuple(line for line, _ in body))


def header_count(rows: Sequence[Sequence[str]]) -> int:
    """How many of the first rows are header: 1, or more where data sets span columns.

    A further row belongs to it if it names several metrics or K, or holds text or whole numbers
    alone below names that are blank or repeated.
    """
    count = 1
    while count < min(len(rows), _MOST_HEADERS) and _continues(rows[count - 1], rows[count]):
        count += 1
    return count


def _continues(above: Sequence[str], row: Sequence[str]) -> bool:
    named = [cell for cell in row if cell]
    if any("." in plain for plain in map(_number, named)):
        return False
    names_metrics = sum(score_name(cell) is not None for cell in row[1:]) > 1
    if names_metrics and not any(map(_number, named)):
        return not any(score_name(cell) for cell in above)
    spans = len({cell for cell in above[1:] if cell}) < len(above[1:])
    is_label = not row[0] or (bool(above) and row[0] == above[0])
    if not (spans and len(named) > 1):
        return False
    data = [cell for cell in row[1:] if cell]
    return not any(map(_number, data)) or (is_label and all(map(k_of, data)))


def _number(cell: str) -> str:
    plain = plain_number(cell)
    return (
        plain if plain and plain[-1:].isdigit() and plain.lstrip("+-")[:1] in "0123456789." else ""
    )


def joined_names(headers: Sequence[Sequence[str]], *, source: str) -> tuple[str, ...]:
    """One name for each column; a blank of an upper header row belongs to the name left of it.

    Raises:
        PodiumError: two columns have one name.
    """
    width = max(map(len, headers))
    filled = [_filled([*cells, *[""] * (width - len(cells))]) for cells in headers[:-1]]
    last = [*headers[-1], *[""] * (width - len(headers[-1]))]
    names = [_joined([*upper, below]) for *upper, below in zip(*filled, last, strict=True)]
    while names and not names[-1]:
        names.pop()
    if names and not names[0]:
        names[0] = "competitor"
    for name, times in Counter(names).items():
        if times > 1 and name:
            raise PodiumError(
                f"each column must have a name of its own; {source} has {name!r} {times} times"
            )
    return tuple(name or f"column {index}" for index, name in enumerate(names, start=1))


def _filled(cells: Sequence[str]) -> list[str]:
    found: list[str] = []
    for cell in cells:
        found.append(cell or (found[-1] if found else ""))
    return found


def _joined(parts: Sequence[str]) -> str:
    *upper, last = dict.fromkeys(part for part in parts if part) or [""]
    if upper and last.isdecimal():
        upper = [_AT_K.sub("", part).strip() for part in upper]
        last = f"R@{last}"
    return " ".join(part for part in (*upper, last) if part)


def is_markdown(text: str) -> bool:
    """Whether a text holds a table of Markdown: a row of dashes below its header."""
    return any(_is_rule(line) for line in text.splitlines())


def _is_rule(line: str) -> bool:
    return "|" in line and _MARKDOWN_RULE.fullmatch(line) is not None


def _markdown_rows(text: str, *, source: str) -> list[Row]:
    lines = text.split("\n")
    rules = [index for index, line in enumerate(lines) if _is_rule(line)]
    if len(rules) > 1:
        shown = ", ".join(str(index + 1) for index in rules)
        raise PodiumError(
            f"a table must be alone in its file; {source} has tables around lines {shown}"
        )
    [rule] = rules
    begin = end = rule
    while begin > 0 and "|" in lines[begin - 1]:
        begin -= 1
    while end + 1 < len(lines) and "|" in lines[end + 1]:
        end += 1
    return [
        (index + 1, _markdown_cells(lines[index]))
        for index in range(begin, end + 1)
        if index != rule and lines[index].strip("| \t")
    ]


def _markdown_cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith(r"\|") else inner
    return [without_markdown(without_markup(cell)) for cell in re.split(r"(?<!\\)\|", inner)]


def _delimited_rows(text: str, *, source: str) -> list[Row]:
    lines = text.split("\n")
    declared = re.fullmatch(r"sep=(.)", lines[0].strip()) if lines else None
    separator = declared[1] if declared else separator_of(text)
    skipped = 1 if declared else 0
    if separator is None:
        return [
            (number, _SPACED.split(line.strip()))
            for number, line in enumerate(lines, start=1)
            if line.strip()
        ]
    reader = csv.reader(lines[skipped:], delimiter=separator, skipinitialspace=True)
    rows: list[Row] = []
    try:
        before = skipped
        for cells in reader:
            found = [_cell_text(cell) for cell in cells]
            if any(found):
                rows.append((before + 1, found))
            before = skipped + reader.line_num
    except csv.Error as error:
        raise CorruptFileError(f"{source} cannot be read as a table: {error}") from error
    return rows


def _cell_text(cell: str) -> str:
    return without_markup(" ".join(re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", cell).split()))


def separator_of(text: str) -> str | None:
    """What divides cells: the first of tab, semicolon, bar and comma that divides all lines alike.

    If none does, the one that divides the header into most cells; None if none divides it, and
    runs of blanks do.
    """
    lines = [line for line in text.split("\n")[: _SAMPLE * 2] if line.strip()][:_SAMPLE]
    widths = {
        mark: [len(cells) for cells in csv.reader(lines, delimiter=mark)] for mark in _SEPARATORS
    }
    for mark, counts in widths.items():
        if counts and counts[0] > 1 and len(set(counts)) == 1:
            return mark
    best = max(_SEPARATORS, key=lambda mark: (widths[mark] or [1])[0])
    if (widths[best] or [1])[0] > 1:
        return best
    return None if lines and len(_SPACED.split(lines[0].strip())) > 1 else ","
