"""What podium says of results: one type for text and numbers."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from podium.terminal.printing import Row, print_json, print_table, say

if TYPE_CHECKING:
    import polars as pl


class Answer(ABC):
    """What a command says of results, for Python: a text, a frame, plain values.

    ``print``, and a notebook, show the text that the command prints.
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

    def __repr__(self) -> str:
        return str(self)


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
