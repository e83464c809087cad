r"""Reads the rows of a LaTeX ``tabular``, spans written out: ``\multicolumn``, ``\multirow``."""

import re
from collections.abc import Iterator

from analysis.typed_tables.cells import without_latex
from podium.errors import PodiumError

_BODY = re.compile(r"\\begin\{(tabular[*xy]?|longtable|tabu|array)\}(.*?)\\end\{\1\}", re.S)
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_RULES = re.compile(
    r"\\(toprule|midrule|bottomrule|hline|hdashline|specialrule|addlinespace|cmidrule|cline"
    r"|rowcolor|endhead|endfirsthead|endfoot|endlastfoot|noalign|arrayrulecolor|centering"
    r"|setlength)(?![A-Za-z])(\[[^\]]*\]|\([^)]*\)|\{[^{}]*\})*"
)
_SPAN = re.compile(r"\s*\\multicolumn\s*\{\s*(\d+)\s*\}\s*(?=\{)")
_TALL = re.compile(
    r"\s*\\multirow\s*(?:\[[^\]]*\])?\s*\{\s*(-?\d+|\*)\s*\}\s*(?:\[[^\]]*\])?\s*(?=\{)"
)


def latex_rows(text: str, *, source: str) -> list[list[str]]:
    """The cells of each row; rules and empty rows are left out.

    Args:
        text: a file that holds one ``tabular``, whatever is around it.
        source: path of the file, for messages.

    Raises:
        PodiumError: there is no whole table, or there are several.
    """
    bodies = list(_BODY.finditer(_COMMENT.sub("", text)))
    if len(bodies) != 1:
        raise PodiumError(f"a file must hold one whole tabular; {source} has {len(bodies)}")
    kind, body = bodies[0].groups()
    rows: list[list[str]] = []
    falling: dict[int, tuple[str, int]] = {}
    for row in _split(body[_length_of_arguments(body, kind) :], "\\\\"):
        cells = _cells(_RULES.sub("", row), falling)
        if any(cells):
            rows.append(cells)
    return rows


def _length_of_arguments(body: str, kind: str) -> int:
    """How much of a body is the widths and alignments of its columns."""
    at = 0
    for _ in range(1 if kind in ("tabular", "longtable", "tabu", "array") else 2):
        option = re.match(r"\s*\[[^\]]*\]", body[at:])
        at += option.end() if option else 0
        opening = re.match(r"\s*\{", body[at:])
        if opening is None:
            break
        at += opening.end() - 1 + _group_end(body[at + opening.end() - 1 :])
    return at


def _group_end(text: str) -> int:
    """The length of the group in braces that a text begins with."""
    depth = 0
    for at, sign in enumerate(text):
        if at and text[at - 1] == "\\":
            continue
        depth += (sign == "{") - (sign == "}")
        if depth == 0:
            return at + 1
    return len(text)


def _split(text: str, mark: str) -> Iterator[str]:
    """The parts of a text between marks outside of braces."""
    text = text.replace("\\tabularnewline", "\\\\")
    begin = at = depth = 0
    while at < len(text):
        if depth == 0 and text.startswith(mark, at):
            yield text[begin:at]
            at += len(mark)
            if mark == "\\\\" and (space := re.match(r"\*?\s*\[[^\]]*\]", text[at:])):
                at += space.end()
            begin = at
        elif text[at] == "\\":
            at += 2
        else:
            depth += (text[at] == "{") - (text[at] == "}")
            at += 1
    yield text[begin:]


def _cells(row: str, falling: dict[int, tuple[str, int]]) -> list[str]:
    r"""The cells of a row as text.

    Args:
        row: its source.
        falling: column -> what ``\multirow`` lets fall into it, through how many rows; changed.
    """
    cells: list[str] = []
    for text in _split(row, "&"):
        width = 1
        if (span := _SPAN.match(text)) is not None:
            width, text = int(span[1]), text[span.end() :]
            text = text[_group_end(text) :]  # its alignment
        if (tall := _TALL.match(text)) is not None:
            text = text[tall.end() :]
            text = text[_group_end(text) :]  # its width
            num_rows = 1 if tall[1] == "*" else int(tall[1])
            falling[len(cells)] = (without_latex(text), num_rows)
        cells += [without_latex(text)] * width
    return [_fallen(index, cell, falling) for index, cell in enumerate(cells)]


def _fallen(index: int, cell: str, falling: dict[int, tuple[str, int]]) -> str:
    above, num_rows = falling.pop(index, ("", 0))
    if not above or (cell and cell != above):
        return cell
    if num_rows > 1:
        falling[index] = (above, num_rows - 1)
    return above
