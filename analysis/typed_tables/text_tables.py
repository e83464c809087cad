"""Rows of text tables: those of a Markdown table, and which rows are its header."""

import re
from collections import Counter
from collections.abc import Sequence

from podium.analysis.typed_tables.cells import MOST_COLUMNS, without_markdown
from podium.analysis.typed_tables.score_names import k_of, score_name
from podium.analysis.wording import MOST_NAMED, listed
from podium.errors import PodiumError

_RULE = re.compile(r"\s*:?-{2,}:?\s*")
_MOST_HEADERS = 3
_AT_K = re.compile(r"\b(r|recall)\s*@\s*k\b|\bk\s*=?\s*$", re.I)
_NUMBER = re.compile(r"[+-]?[0-9.,]+\s*(%|±.*|\(.*\))?")


def markdown_rows(text: str, *, source: str) -> list[list[str]]:
    """The cells of each row of the one Markdown table of a text, its header first.

    Raises:
        PodiumError: there is no table, or several.
    """
    lines = text.splitlines()
    rules = [index for index, line in enumerate(lines) if _is_rule(line)]
    if len(rules) != 1:
        shown = listed([str(index + 1) for index in rules], most=MOST_NAMED) or "none"
        raise PodiumError(
            f"a file must hold one table, with a row of dashes below its header; {source} has such"
            f" rows in lines {shown}"
        )
    begin = end = rules[0]
    while begin > 0 and "|" in lines[begin - 1]:
        begin -= 1
    while end + 1 < len(lines) and "|" in lines[end + 1]:
        end += 1
    return [
        _cells(lines[index])
        for index in range(begin, end + 1)
        if index != rules[0] and lines[index].strip("| \t")
    ]


def _is_rule(line: str) -> bool:
    return "|" in line and all(map(_RULE.fullmatch, line.strip().strip("|").split("|")))


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith(r"\|") else inner
    cells = re.split(r"(?<!\\)\|", inner, maxsplit=MOST_COLUMNS)  # one more than is allowed
    return [without_markdown(cell) for cell in cells]


def header_count(rows: Sequence[Sequence[str]]) -> int:
    """How many of the first rows are header: 1, or up to 3 where data sets span columns.

    A further row belongs to it if the row above repeats names or leaves them blank, and it holds
    no number, or nothing but whole numbers, which are K, below a label.
    """
    count = 1
    while count < min(len(rows), _MOST_HEADERS) and _continues(rows[count - 1], rows[count]):
        count += 1
    return count


def _continues(above: Sequence[str], row: Sequence[str]) -> bool:
    cells = [cell for cell in row[1:] if cell]
    if not cells or any((found := score_name(cell)) and found.k for cell in above):
        return False
    if len({cell for cell in above[1:] if cell}) == len(above[1:]):
        return sum(score_name(cell) is not None for cell in cells) > 1
    is_label = not row[0] or row[0] == above[0]
    return not any(map(_NUMBER.fullmatch, cells)) or (is_label and all(map(k_of, cells)))


def joined_names(headers: Sequence[Sequence[str]], *, source: str) -> tuple[str, ...]:
    """One name for each column; a blank of an upper header row belongs to the name left of it.

    Raises:
        PodiumError: two columns have one name.
    """
    width = max(map(len, headers))
    rows = [[*cells, *[""] * (width - len(cells))] for cells in headers]
    upper = map(_filled, rows[:-1])
    names = [_joined(parts) for parts in zip(*upper, rows[-1], strict=True)]
    while names and not names[-1]:
        names.pop()
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
