"""Cells in rows and columns, coloured by their values, with a key of the colours.

R rows, C columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis.figures.plot import Plot, rounded


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Colours of numbers.

    Attributes:
        label: what the numbers are, with their unit: the title of the key.
        start: value at the start of the key.
        end: value at its end.
        is_diverging: whether the middle is neutral and both ends are colours; otherwise the start
            is neutral.
        digits: digits after the point of numbers in cells and tips.
        is_signed: whether positive numbers have a sign.
    """

    label: str
    start: float
    end: float
    is_diverging: bool = False
    digits: int = 1
    is_signed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixText:
    """How a cell is put into words.

    Attributes:
        joint: what is between the name of the row and that of the column: ``minus``, ``in``.
        framed: what a frame means; "" if no cell is framed.
        details: further text of each cell, by row and column; () for none.
    """

    joint: str
    framed: str = ""
    details: tuple[tuple[str, ...], ...] = ()


def matrix_plot(
    rows: Sequence[str],
    columns: Sequence[str],
    values_RC: NDArray[np.float64],
    scale: Scale,
    text: MatrixText,
    *,
    name: str,
    title: str,
    description: str,
    label: str = "",
    is_framed_RC: NDArray[np.bool_] | None = None,
    tagged: Literal["rows", "columns", ""] = "rows",
) -> Plot:
    """The plot; numbers are written into cells where there is room.

    Args:
        rows: labels of the rows, from the top.
        columns: labels of the columns, from the left.
        values_RC: values, NaN for an empty cell.
        scale: colours of the numbers.
        text: how a cell is put into words.
        name: name of the plot, unique within the page.
        title: text read out as its name.
        description: text read out after it.
        label: what distinguishes it from the other plots of its figure.
        is_framed_RC: cells with a frame; None for none.
        tagged: which of rows and columns are competitors that a press highlights.
    """
    framed = [] if is_framed_RC is None else np.argwhere(is_framed_RC).tolist()
    return Plot(
        kind="matrix",
        name=name,
        title=title,
        description=description,
        label=label,
        values={
            "rows": list(rows),
            "columns": list(columns),
            "cells": [[_plain(value) for value in row] for row in values_RC.tolist()],
            "framed": framed,
            "framedText": text.framed,
            "joint": text.joint,
            "details": [list(row) for row in text.details],
            "tagged": tagged,
            "scale": {
                "label": scale.label,
                "start": rounded(scale.start),
                "end": rounded(scale.end),
                "isDiverging": scale.is_diverging,
                "digits": scale.digits,
                "isSigned": scale.is_signed,
            },
        },
    )


def _plain(value: float) -> float | int | None:
    """The number without a needless ``.0``, which would be a third of the bytes of ranks."""
    found = rounded(value)
    return int(found) if found is not None and found.is_integer() else found
