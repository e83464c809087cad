"""What a page shows of tables and figures that are larger than anyone looks through.

A page of ten thousand blocks would be hundreds of megabytes. It shows the first rows and columns
of a table and some of a figure's plots, and says so; tables that are written as CSV, LaTeX or JSON
have everything.
"""

from dataclasses import replace

from podium.analysis.figures.lines import thinned
from podium.analysis.figures.plot import Plot
from podium.analysis.page.html_page import Fold, Illustration, Page, Part, SideBySide
from podium.analysis.page.tables import Table

MOST_ROWS = 1_000
MOST_COLUMNS = 200
MOST_CELLS = 20_000
MOST_PLOTS = 100

_EVERYTHING = "podium report with --csv writes it whole"


def within_limits(page: Page) -> Page:
    """The page with no table and no figure beyond the limits; the same page if none is.

    Args:
        page: page to be rendered.
    """
    return replace(
        page,
        sections=tuple(
            replace(section, parts=tuple(map(_part, section.parts))) for section in page.sections
        ),
    )


def _part(part: Part) -> Part:
    match part:
        case Table():
            return _table(part)
        case Illustration():
            return _figure(part)
        case SideBySide() | Fold():
            return replace(part, parts=tuple(map(_part, part.parts)))  # type: ignore[arg-type]
        case _:
            return part


def _table(table: Table) -> Table:
    """The first rows and columns, and a note of what is left out."""
    num_columns = min(len(table.columns), MOST_COLUMNS)
    num_rows = min(len(table.rows), MOST_ROWS, max(1, MOST_CELLS // max(1, num_columns)))
    left_out = [
        f"the first {shown:,} of {every:,} {what}"
        for what, shown, every in (
            ("rows", num_rows, len(table.rows)),
            ("columns", num_columns, len(table.columns)),
        )
        if shown < every
    ]
    if not left_out:
        return table
    said = f"Shown: {' and '.join(left_out)} of this table; {_EVERYTHING}."
    return replace(
        table,
        columns=table.columns[:num_columns],
        rows=tuple(row[:num_columns] for row in table.rows[:num_rows]),
        note=f"{table.note} {said}".strip(),
    )


def _figure(figure: Illustration) -> Illustration:
    """Plots of labels that are spread evenly over all of them, and a caption that says so."""
    table = figure.table and _table(figure.table)
    labels = list(dict.fromkeys(plot.label for plot in figure.plots if plot.label))
    plots_of_label = len(figure.plots) / max(1, len(labels))
    most = max(1, int(MOST_PLOTS / plots_of_label))
    if len(labels) <= most:
        return figure if table is figure.table else replace(figure, table=table)
    kept = {labels[position] for position in thinned(len(labels), most)}
    plots: tuple[Plot, ...] = tuple(
        plot for plot in figure.plots if not plot.label or plot.label in kept
    )
    said = (
        f"Shown: {len(plots):,} of {len(figure.plots):,} plots, spread evenly over"
        f" {figure.selector.lower() or 'plot'}s in their order."
    )
    return replace(figure, plots=plots, table=table, caption=f"{figure.caption} {said}")
