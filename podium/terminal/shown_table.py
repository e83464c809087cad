"""Tables of a page as text."""

from collections.abc import Iterable
from itertools import accumulate

from podium.analysis.page.tables import Cell, Table
from podium.terminal.printing import aligned, filled

_GAP = 2  # spaces between columns


def captioned(tables: Iterable[Table], width: int = 80) -> list[str]:
    """Each table below its caption, which is in lines of at most ``width`` columns."""
    return [
        f"{filled(table.caption.removesuffix('.'), width)}\n{shown_table(table)}"
        for table in tables
    ]


def shown_table(table: Table) -> str:
    """Heads, below those of their groups, and cells, each with its interval in its line."""
    heads = [f"{it.label[0].lower()}{it.label[1:]}" for it in table.columns]
    lines = [heads, *([*map(cell_text, row)] for row in table.rows)]
    text = aligned(lines, [column.is_number for column in table.columns])
    if not table.groups:
        return text
    widths = [_GAP + max(map(len, column)) for column in zip(*lines, strict=True)]
    starts = [0, *accumulate(widths)]
    upper, position = "", 0
    for group, span in table.groups:
        upper = upper.ljust(starts[position]) + group.lower()
        position += span
    return f"{upper.rstrip()}\n{text}"


def cell_text(cell: Cell) -> str:
    """The text of a cell with its interval in the same line."""
    if cell.margin:
        return f"{cell.text} ± {cell.margin}"
    return f"{cell.text} ({cell.detail})" if cell.detail else cell.text
