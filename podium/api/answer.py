"""What podium says of results: one type for text, numbers and notebooks."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from podium.terminal.printing import Row, cell_text, is_numeric, print_json, print_table, say

if TYPE_CHECKING:
    import polars as pl


class Answer(ABC):
    """What a command says of results, for Python: a text, a frame, plain values.

    A notebook shows the headline and a table, with the whole text behind a fold; ``print`` shows
    that text, which is what the command prints.
    """

    @property
    @abstractmethod
    def headline(self) -> str:
        """The answer in a sentence or two."""

    @property
    @abstractmethod
    def frame(self) -> "pl.DataFrame":
        """The numbers with all their digits: what the command prints with ``--csv``."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: what the command prints with ``--json``."""

    @abstractmethod
    def __str__(self) -> str:
        """The text that the command prints."""

    @abstractmethod
    def shown_rows(self) -> Sequence[Row]:
        """The rows of the table that a notebook shows, rounded as in the text."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return answer_html(self.headline, self.shown_rows(), str(self))


def print_answer(answer: Answer, *, as_json: bool, as_csv: bool) -> None:
    """Print an answer as text, as JSON, or as CSV with a header.

    Args:
        answer: the answer of a command.
        as_json: whether to print JSON.
        as_csv: whether to print CSV; ignored with ``as_json``.
    """
    if as_json:
        print_json(answer.to_dict())
    elif as_csv:
        frame = answer.frame
        print_table(frame.to_dicts(), columns=frame.columns, as_csv=True)
    else:
        say(answer)


def frame_of(rows: Sequence[Row]) -> "pl.DataFrame":
    """Rows of plain values as a frame, each column of the type of all its values."""
    import polars as pl  # no text needs it

    return pl.DataFrame(rows, infer_schema_length=None)


def answer_html(headline: str, rows: Sequence[Row], text: str = "") -> str:
    """A fragment of a page that needs no style sheet and suits light and dark notebooks.

    Everything is escaped, and control characters are spelt out.

    Args:
        headline: a sentence, shown first.
        rows: rows of a table, as of `podium.terminal.printing.table_text`; none for no table.
        text: lines of fixed width behind a fold; "" for none.
    """
    from analysis.page.html_page import fragment
    from orchestrator.results.storage.printable_text import visible

    columns = list(rows[0]) if rows else []
    shown = fragment(
        "answer.html.j2",
        headline=visible(headline),
        columns=columns,
        aligned={name: "right" if is_numeric(rows, name) else "left" for name in columns},
        rows=[{name: cell_text(row.get(name)) for name in columns} for row in rows],
        text=visible(text),
    )
    return str(shown)
