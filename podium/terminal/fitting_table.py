"""Tables that fit the terminal: no word wraps; columns without room go, and are named below."""

import shutil
import textwrap
from collections.abc import Collection, Sequence

from podium.analysis.wording import MOST_NAMED, listed
from podium.terminal.printing import Row, aligned, cell_text, filled, is_numeric

_DEFAULT_WIDTH = 80
_GAP = 2  # spaces between columns
_CUT = "…"


def terminal_width() -> int:
    """As COLUMNS or else the terminal says; 80 where standard output is no terminal."""
    return shutil.get_terminal_size((_DEFAULT_WIDTH, 0)).columns


def fitting_table(
    rows: Sequence[Row],
    *,
    columns: Sequence[str],
    worth: Sequence[str],
    width: int,
    num_kept: int = 1,
    right: Collection[str] = (),
    cut: str = "",
) -> tuple[list[str], list[str]]:
    """Rows as aligned lines of at most ``width`` columns, and the names of columns without room.

    Columns are taken in the order of their worth while they have room; one that has none does not
    keep out a narrower one behind it. Where those that are always shown do not fit, the texts of
    the first of ``worth`` lose their middle; nothing else is cut, but for ``cut``.

    Args:
        rows: mappings of column to value, as of `print_table`.
        columns: names of all columns, in the order of the table.
        worth: some of them, those worth most first; the others follow in the order of the table.
        width: columns of the terminal.
        num_kept: how many of ``worth``, from its start, are always shown.
        right: columns of texts aligned to the right; numbers are anyway.
        cut: a column whose texts lose the words at their end that have no room.
    """
    texts = {
        name: [cell_text(value) for value in (name, *(row.get(name) for row in rows))]
        for name in columns
    }
    widths = {name: max(map(len, of_name)) for name, of_name in texts.items()}
    key, *others = dict.fromkeys((*worth, *columns))
    always, wanted = others[: num_kept - 1], others[num_kept - 1 :]
    room = width - sum(_GAP + widths[name] for name in always)
    texts[key] = [_cut(text, max(room, len(key))) for text in texts[key]]
    room -= min(widths[key], max(room, len(key)))
    shown = {key, *always}
    for name in wanted:
        if name == cut:
            most = max(room - _GAP, len(name))
            texts[name] = [
                textwrap.shorten(it, most, placeholder=f" {_CUT}") for it in texts[name]
            ]
            widths[name] = max(map(len, texts[name]))
        if _GAP + widths[name] <= room:
            shown.add(name)
            room -= _GAP + widths[name]
    chosen = [name for name in columns if name in shown]
    lines = zip(*(texts[name] for name in chosen), strict=True)
    text = aligned(list(lines), [name in right or is_numeric(rows, name) for name in chosen])
    return text.split("\n"), [name for name in columns if name not in shown]


def whole_table(rows: Sequence[Row]) -> str:
    """All columns of texts as wide as the terminal, all but the first aligned to the right."""
    columns = list(rows[0])
    lines, _ = fitting_table(
        rows,
        columns=columns,
        worth=columns,
        width=terminal_width(),
        num_kept=len(columns),
        right=columns[1:],
    )
    return "\n".join(lines)


def fitted_text(
    rows: Sequence[Row],
    *,
    columns: Sequence[str],
    worth: Sequence[str],
    num_kept: int = 1,
    right: Collection[str] = (),
    cut: str = "",
) -> str:
    """A `fitting_table` as wide as the terminal, and which columns had no room."""
    width = terminal_width()
    lines, left_out = fitting_table(
        rows, columns=columns, worth=worth, width=width, num_kept=num_kept, right=right, cut=cut
    )
    if left_out:
        names = listed(left_out, most=MOST_NAMED)
        lines.append(filled(f"Not shown for lack of room: {names}. --csv has all.", width))
    return "\n".join(lines)


def _cut(text: str, length: int) -> str:
    """``text`` without what is before its end, where it is longer than ``length``.

    The end says most in names such as ``cub200/resnet50/512 contrastive``, and keeps two thirds.
    """
    if len(text) <= length:
        return text
    start = (length - len(_CUT)) // 3
    return f"{text[:start]}{_CUT}{text[len(text) - length + start + len(_CUT) :]}"
