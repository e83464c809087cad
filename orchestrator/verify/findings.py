"""What a check of a results folder found, and rules on frames of its rows."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import polars as pl
import polars.selectors as cs

from podium.errors import PodiumError, StoreError
from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.results.storage.printable_text import one_line

_BREAK = re.compile(r"\s*\n\s*")  # in messages of other parts


@dataclass(slots=True)
class Findings:
    """Collects problems and notes, a line each, and counts what was checked.

    Attributes:
        tell: takes messages on what is being checked, to show progress.
        problems: what must not be, with the file.
        notes: what was not checked, and why.
        checked: number of checked items by kind.
        is_readable: whether no reader refused anything.
    """

    tell: Callable[[str], object] = field(default=lambda _: None)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)
    is_readable: bool = True

    def problem(self, file: Place | str, text: str) -> None:
        """Add a problem: something that must not be, and its file."""
        line = _line(text if str(file) in text else f"{file}: {text}")
        if line not in self.problems:  # a run that cannot be read is met with the journals again
            self.problems.append(line)

    def note(self, text: str) -> None:
        """Add a note: why something was not checked."""
        self.notes.append(_line(text))

    def check(self, rows: pl.DataFrame, rules: Mapping[str, pl.Expr]) -> None:
        """Each rule that a row with a ``file`` and ``trial_id`` violates is a problem.

        Rules are what must hold, in braces flat columns -> whether a row violates it; null: no.
        """
        broken = rows.select(is_broken.alias(text) for text, is_broken in rules.items())
        for text in (text for text in rules if broken[text].any()):
            for row in rows.filter(broken[text]).select(~cs.nested()).iter_rows(named=True):
                self.problem(row["file"], f"trial {row['trial_id']}: {text.format_map(row)}")

    @contextmanager
    def reading(self, file: Place) -> Iterator[None]:
        """What a reader refuses within the block is a problem of ``file``, and ends it."""
        try:
            yield
        except StoreError:
            raise
        except PodiumError as error:
            self.is_readable = False
            self.problem(file, str(error))


def _line(text: str) -> str:
    """One line, whatever names and values of the folder hold."""
    return one_line(_BREAK.sub(" ", text))
