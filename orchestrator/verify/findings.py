"""What a check of a results folder found."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

from orchestrator.results.storage.locations import Place
from orchestrator.results.storage.printable_text import one_line
from podium.errors import CorruptFileError

# Of a folder: the file in it, whose name may hold spaces.
_BELOW = re.compile(r"/[^:]*?\.\w+(?=[ :])|/[^\s:]+")
_BREAK = re.compile(r"\s*\n\s*")  # in messages of other parts
_SHOWN = 3
_BRING_BACK = "Restore the original file from a copy"


@dataclass(frozen=True, slots=True, kw_only=True)
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

    def to_dict(self) -> dict[str, str | None]:
        """As plain values."""
        return asdict(self)


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
        self.problems.append(Finding(file=str(file), rule=rule, value=found, advice=advice))

    def note(self, file: Place | str, rule: str, advice: str | None = None) -> None:
        """Add a note: something that harms nothing."""
        self.notes.append(Finding(file=str(file), rule=rule, value=None, advice=advice))

    def add(self, other: "Findings") -> None:
        """Add what others found."""
        self.problems += other.problems
        self.notes += other.notes
        self.checked += other.checked

    @contextmanager
    def reading(self, file: Place) -> Iterator[None]:
        """A file that cannot be read within the block is a problem, and the block ends there."""
        try:
            yield
        except CorruptFileError as error:
            text, path = str(error).rstrip("."), str(file)
            if text.startswith((f"{file} ", f"{file}:", f"{file}/")):
                text = text.removeprefix(path)
                below = _BELOW.match(text)
                path += below[0] if below else ""
                text = (text[below.end() :] if below else text).lstrip(": ")
            advice = None if "Restore " in text else _BRING_BACK
            self.problem(path, text, advice=advice)


def some_of(names: Sequence[str]) -> str:
    """The first three names, and how many more there are."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
