r"""Reads the rows of a LaTeX ``tabular``, spans written out: ``\multicolumn``, ``\multirow``."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.typed_tables.printed_cells import without_latex
from podium.errors import PodiumError

_BEGIN = re.compile(r"\\begin\{(tabular[*xy]?|longtable|tabu|array)\}")
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

Row = tuple[int, list[str]]


def is_latex(text: str) -> bool:
    r"""Whether a text holds a ``tabular``, or rows of one: cells with ``&`` and ``\\``."""
    return bool(_BEGIN.search(text) or re.search(r"&[^\n]*\\\\", text))


def latex_rows(text: str, *, source: str) -> list[Row]:
    """The line and the cells of each row; rules and empty rows are left out.

    Args:
        text: a file that holds one ``tabular``, whatever is around it, or rows alone.
        source: path of the file, for messages.

    Raises:
        PodiumError: there are several tables, or one that does not end.
    """
    text = _COMMENT.sub("", text)
    bodies = list(_BODY.finditer(text))
    if len(bodies) > 1:
        lines = ", ".join(str(_line(text, body.start())) for body in bodies)
        raise PodiumError(
            f"a table must be alone in its file; {source} has tabulars in lines {lines}"
        )
    begin = _BEGIN.search(text)
    if begin is not None and not bodies:
        raise PodiumError(
            f"the table of {source} that begins in line {_line(text, begin.start())} has no"
            f" \\end{{{begin[1]}}}"
        )
    start, end = bodies[0].span(2) if bodies else (0, len(text))
    if bodies:
        start += _length_of_arguments(text[start:end], bodies[0][1])
    rows: list[Row] = []
    falling: dict[int, _Falling] = {}
    for at, row in _split(text[start:end], "\\\\"):
        row = _RULES.sub(lambda rule: re.sub(r"[^\n]", " ", rule[0]), row)
        cells = _cells(row, falling)
        if any(cells):
            first = at + len(row) - len(row.lstrip())
            rows.append((_line(text, start + first), cells))
    return rows


@dataclass(frozen=True, slots=True)
class _Falling:
    """A cell that spans so many more rows below."""

    text: str
    num_rows: int


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _length_of_arguments(body: str, kind: str) -> int:
    """How much of a body is the widths and alignments of its columns."""
    num_braces = 1 if kind in ("tabular", "longtable", "tabu", "array") else 2
    at = 0
    for _ in range(num_braces):
        option = re.match(r"\s*\[[^\]]*\]", body[at:])
        at += option.end() if option else 0
        opening = re.match(r"\s*\{", body[at:])
        if opening is None:
            break
        at += _group_end(body[at + opening.end() - 1 :]) + opening.end() - 1
    return at


def _group_end(text: str) -> int:
    """The length of the group in braces that a text begins with."""
    depth = 0
    for at, sign in enumerate(text):
        if text[at - 1 : at] == "\\" and at:
            continue
        depth += (sign == "{") - (sign == "}")
        if depth == 0:
            return at + 1
    return len(text)


def _split(text: str, mark: str) -> Iterator[tuple[int, str]]:
    """The parts of a text between marks outside of braces, each with where it begins."""
    text = text.replace("\\tabularnewline", "\\\\             ")
    begin = at = depth = 0
    while at < len(text):
        if depth == 0 and text.startswith(mark, at):
            yield begin, text[begin:at]
            at += len(mark)
            if mark == "\\\\" and (space := re.match(r"\*?\s*\[[^\]]*\]", text[at:])):
                at += space.end()
            begin = at
        elif text[at] == "\\":
            at += 2
        else:
            depth += (text[at] == "{") - (text[at] == "}")
            at += 1
    yield begin, text[begin:]


def _cells(row: str, falling: dict[int, _Falling]) -> list[str]:
    r"""The cells of a row as text; ``falling`` holds what ``\multirow`` lets fall, by column."""
    cells: list[str] = []
    for _, text in _split(row, "&"):
        width = 1
        if (span := _SPAN.match(text)) is not None:
            width, text = int(span[1]), text[span.end() :]
            text = text[_group_end(text) :]  # its alignment
        if (tall := _TALL.match(text)) is not None:
            text = text[tall.end() :]
            text = text[_group_end(text) :]  # its width
            num_rows = 1 if tall[1] == "*" else int(tall[1])
            falling[len(cells)] = _Falling(without_latex(text), num_rows)
        plain = without_latex(text)
        cells += [plain] * width
    return [_fallen(index, cell, falling) for index, cell in enumerate(cells)]


def _fallen(index: int, cell: str, falling: dict[int, _Falling]) -> str:
    above = falling.pop(index, None)
    if above is None or (cell and cell != above.text):
        return cell
    if above.num_rows > 1:
        falling[index] = _Falling(above.text, above.num_rows - 1)
    return above.text
