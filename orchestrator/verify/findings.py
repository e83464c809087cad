"""What a check of a results folder found, and rules on frames of its rows."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from string import Formatter
from typing import NamedTuple

import polars as pl

from orchestrator.results.storage.locations import Place
from orchestrator.results.storage.printable_text import one_line
from podium.errors import CorruptFileError

# Of a folder: the file in it, whose name may hold spaces.
_BELOW = re.compile(r"/[^:]*?\.\w+(?=[ :])|/[^\s:]+")
_BREAK = re.compile(r"\s*\n\s*")  # in messages of other parts
_SHOWN = 3

WRONG_VALUES = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What comes of values from anywhere, where podium expects its own."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem or note about a file.

    Attributes:
        file: the file or folder.
        rule: what must hold; for notes what was found.
        value: what is there instead; None where that says nothing.
        advice: what to do; None if nothing can be advised.
    """

    file: str
    rule: str
    value: str | None
    advice: str | None

    def __str__(self) -> str:
        """One line, whatever names and values of the folder hold."""
        value = "" if self.value is None else f"; it is {self.value}"
        advice = "" if self.advice is None else f". {self.advice}"
        text = _BREAK.sub(" ", f"{self.rule}{value}{advice}")
        return one_line(f"{self.file}: {text}")


class Rule(NamedTuple):
    """A rule on the rows of a frame with the columns ``file`` and ``trial_id``.

    Attributes:
        text: what must hold; in braces columns of the frame, or ``expected``.
        is_broken: whether a row violates it; null counts as no.
        value: what the row has; by default the first column that ``is_broken`` names.
        expected: what it must have, where the text names it.
    """

    text: str
    is_broken: pl.Expr
    value: pl.Expr | str | None = None
    expected: pl.Expr | str | None = None


@dataclass(slots=True)
class Findings:
    """Collects problems and notes, and counts what was checked.

    Attributes:
        tell: takes messages on what is being checked, to show progress.
        problems: what must not be.
        notes: what harms nothing.
        checked: number of checked items by kind.
    """

    tell: Callable[[str], object] = field(default=lambda _: None)
    problems: list[Finding] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)

    def problem(
        self, file: Place | str, rule: str, value: object = None, advice: str | None = None
    ) -> None:
        """Add a problem: something that must not be."""
        found = None if value is None else str(value)
        self.problems.append(Finding(str(file), rule, found, advice))

    def note(self, file: Place | str, rule: str, advice: str | None = None) -> None:
        """Add a note: something that harms nothing."""
        self.notes.append(Finding(str(file), rule, None, advice))

    def check(self, rows: pl.DataFrame, *rules: Rule) -> None:
        """Each rule that a row violates is a problem."""
        for rule in rules:
            odd = rows.filter(rule.is_broken)
            named = {name for _, name, _, _ in Formatter().parse(rule.text) if name}
            value = rule.is_broken.meta.root_names()[0] if rule.value is None else rule.value
            names = {"file", "trial_id", *named} - {"expected"}
            shown = odd.select(*names, expected=rule.expected, value_=value)
            for row in shown.iter_rows(named=True):
                text = f"trial {row['trial_id']}: {rule.text.format_map(row)}"
                self.problem(row["file"], text, repr(row["value_"]))

    @contextmanager
    def reading(self, file: Place, *wrong: type[Exception]) -> Iterator[None]:
        """A file that cannot be read within the block is a problem, and the block ends there.

        Args:
            file: the file.
            wrong: errors that come of values in it, of which nothing else is known.
        """
        try:
            yield
        except wrong as error:
            self.problem(file, f"must hold values that podium can use; got {error!r}")
        except CorruptFileError as error:
            text, path = str(error).rstrip("."), str(file)
            if text.startswith((f"{file} ", f"{file}:", f"{file}/")):
                text = text.removeprefix(path)
                below = _BELOW.match(text)
                path += below[0] if below else ""
                text = (text[below.end() :] if below else text).lstrip(": ")
            advice = None if "Restore " in text else "Restore the original file from a copy"
            self.problem(path, text, advice=advice)


def some_of(names: Sequence[str]) -> str:
    """The first three names, and how many more there are."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
