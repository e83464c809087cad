"""Which of the first rows of a text table are its header, and what its columns are called."""

import re
from collections import Counter
from collections.abc import Sequence

from podium.analysis.typed_tables.score_names import k_of, score_name
from podium.errors import PodiumError

_MOST_HEADERS = 3
_AT_K = re.compile(r"\b(r|recall)\s*@\s*k\b|\bk\s*=?\s*$", re.I)
_NUMBER = re.compile(r"[+-]?[0-9.,]+\s*(%|±.*|\(.*\))?")


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
