"""What podium says of results: one type for text and numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from podium.terminal.printing import Form, Row, print_json, print_table, say, without_nan

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Answer:
    """What a command says of results, for Python: a text, a frame, plain values.

    ``print``, and a notebook, show the text that the command prints.

    Attributes:
        headline: the answer in a sentence or two.
        text: the text that the command prints.
        record: everything as plain values.
        rows: the numbers with all their digits, as a frame or as rows of plain values.
    """

    headline: str
    text: str
    record: Mapping[str, Any]
    rows: "pl.DataFrame | Sequence[Row]"

    @property
    def frame(self) -> "pl.DataFrame":
        """The numbers with all their digits: what the command prints with ``--csv``."""
        import polars as pl  # no text needs it

        if isinstance(self.rows, pl.DataFrame):
            return self.rows
        return pl.DataFrame(self.rows, infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: what the command prints with ``--json``."""
        return {name: without_nan(value) for name, value in self.record.items()}

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


def print_answer(answer: Answer, form: Form) -> None:
    """Print the answer of a command as text, JSON or CSV."""
    if form.is_text:
        say(answer)
    elif form.as_json:
        print_json(answer.to_dict())
    else:
        print_frame(answer.frame, form)


def print_frame(frame: "pl.DataFrame", form: Form) -> None:
    """Print the rows of a frame as JSON or CSV."""
    print_table(frame.to_dicts(), columns=frame.columns, form=form)
