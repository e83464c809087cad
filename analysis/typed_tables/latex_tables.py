r"""Reads the rows of a LaTeX ``tabular``, spans written out: ``\multicolumn``, ``\multirow``."""

import re
from collections.abc import Iterator

from podium.analysis.typed_tables.cells import MOST_COLUMNS, without_latex
from podium.errors import PodiumError

_ENDS = re.compile(r"\\(begin|end)\{(tabular[*xy]?|longtable|tabu|array)\}")
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
# A bracket that is not closed ends somewhere: else each one would be looked for to the end.
_OPTION = r"\[[^\]]{0,200}\]"
_RULES = re.compile(
    r"\\(toprule|midrule|bottomrule|hline|hdashline|specialrule|addlinespace|cmidrule|cline"
    r"|rowcolor|endhead|endfirsthead|endfoot|endlastfoot|noalign|arrayrulecolor|centering"
    rf"|setlength)(?![A-Za-z])({_OPTION}|\([^)]{{0,200}}\)|\{{[^{{}}]{{0,200}}\}})*"
)
_MARKS = re.compile(rf"(?:\\\\|\\tabularnewline)(?:\*?\s*{_OPTION})?|\\.|[{{}}&]", re.S)
_ARGUMENT = re.compile(rf"\s*(?:{_OPTION}\s*)?(?=\{{)")
_SPAN = re.compile(r"\s*\\multicolumn\s*\{\s*(\d{1,4})\s*\}\s*(?=\{)")
_TALL = re.compile(
    rf"\s*\\multirow\s*(?:{_OPTION}\s*)?\{{\s*(-?\d{{1,4}}|\*)\s*\}}\s*(?:{_OPTION}\s*)?(?=\{{)"
)


def latex_rows(text: str, *, source: str) -> Iterator[list[str]]:
    """The cells of each row, at most one more than a table may have columns.

    Rules and empty rows are left out.

    Args:
        text: a file that holds one ``tabular``, whatever is around it.
        source: path of the file, for messages.

    Raises:
        PodiumError: there is no whole table, or there are several.
    """
    text = _COMMENT.sub("", text)
    ends = list(_ENDS.finditer(text))
    if [end[1] for end in ends] != ["begin", "end"] or ends[0][2] != ends[1][2]:
        raise PodiumError(
            f"a file must hold one whole tabular; {source} begins"
            f" {sum(end[1] == 'begin' for end in ends)} and ends"
            f" {sum(end[1] == 'end' for end in ends)}"
        )
    body = text[ends[0].end() : ends[1].start()]
    falling: dict[int, tuple[str, int]] = {}
    for row in _rows(body[_length_of_arguments(body, ends[0][2]) :]):
        cells = _cells(row, falling)
        if any(cells):
            yield cells


def _length_of_arguments(body: str, kind: str) -> int:
    """How much of a body is the widths and alignments of its columns."""
    at = 0
    for _ in range(1 if kind in ("tabular", "longtable", "tabu", "array") else 2):
        if (opening := _ARGUMENT.match(body, at)) is None:
            break
        at = opening.end() + _group_end(body[opening.end() :])
    return at


def _group_end(text: str) -> int:
    """The length of the group in braces that a text begins with."""
    depth = 0
    for mark in _MARKS.finditer(text):
        depth += (mark[0] == "{") - (mark[0] == "}")
        if depth == 0:
            return mark.end()
    return len(text)


def _rows(text: str) -> Iterator[list[str]]:
    """The sources of the cells of each row: marks within braces divide nothing."""
    cells: list[str] = []
    begin = depth = 0
    for mark in _MARKS.finditer(text):
        depth += (mark[0] == "{") - (mark[0] == "}")
        is_end = mark[0].startswith((r"\\", r"\tabularnewline"))
        if depth == 0 and (is_end or mark[0] == "&"):
            cells.append(text[begin : mark.start()])
            begin = mark.end()
            if is_end:
                yield cells
                cells = []
    yield [*cells, text[begin:]]


def _cells(row: list[str], falling: dict[int, tuple[str, int]]) -> list[str]:
    r"""The cells of a row as text.

    Args:
        row: their sources.
        falling: column -> what ``\multirow`` lets fall into it, through how many rows; changed.
    """
    cells: list[str] = []
    for source in row[: MOST_COLUMNS + 1]:
        text, width = _RULES.sub("", source), 1
        if (span := _SPAN.match(text)) is not None:
            width, text = int(span[1]), text[span.end() :]
            text = text[_group_end(text) :]  # its alignment
        if (tall := _TALL.match(text)) is not None:
            text = text[tall.end() :]
            text = text[_group_end(text) :]  # its width
            num_rows = 1 if tall[1] == "*" else int(tall[1])
            falling[len(cells)] = (without_latex(text), num_rows)
        cells += [without_latex(text)] * min(width, MOST_COLUMNS + 1 - len(cells))
    return [_fallen(index, cell, falling) for index, cell in enumerate(cells)]


def _fallen(index: int, cell: str, falling: dict[int, tuple[str, int]]) -> str:
    above, num_rows = falling.pop(index, ("", 0))
    if not above or (cell and cell != above):
        return cell
    if num_rows > 1:
        falling[index] = (above, num_rows - 1)
    return above
