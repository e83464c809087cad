"""Makes docs/reference/commands.md from the command line itself."""

import inspect
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from docs.make.markdown import TOLD, table
from podium.cli import COMMANDS, _application

_OPENING = """\
# Commands

What `podium COMMAND -h` prints, of all commands. STUDY is a study file, the name of one that podium ships, such as
`quickstart`, or a results folder or its URI.
"""
_SHARED = """\
## Options of several commands
"""
_FEWEST = 2  # commands that share an option, which is told once
_EXIT_CODES = """\
## Exit codes

| code | meaning |
|---|---|
| 0 | done |
| 1 | some trials failed, or a rerun differs |
| 2 | bad input |
| 3 | interrupted, and resumable |
| 4 | store or lock unavailable |
"""


def commands_page() -> str:
    """The text of the page."""
    rows = [(f"[`podium {name}`](#podium-{name})", line) for name, (_, line) in COMMANDS.items()]
    sections = [section for name in COMMANDS for section in _sections(name)]
    uses = Counter(option for section in sections for option in section.options)
    shared = [option for option, count in uses.items() if count >= _FEWEST]
    parts = [
        *(TOLD, _OPENING, f"{table(('command', 'what it does'), rows)}\n", _EXIT_CODES, _SHARED),
        f"{table(('argument or option', 'what it does'), shared)}\n",
    ]
    for section in sections:
        own = [option for option in section.options if option not in shared]
        names = (
            option[0].strip("`").split(" ")[0] for option in section.options if option in shared
        )
        also = ", ".join(f"`{name}`" for name in names)
        parts += [f"{section.heading}\n", f"{section.text}\n"]
        parts += [f"[As others](#options-of-several-commands): {also}.\n"] if also else []
        parts += [f"{table(('argument or option', 'what it does'), own)}\n"] if own else []
    return "\n".join(parts)


class _Section(NamedTuple):
    """A command: heading, help, and arguments and options with what each does."""

    heading: str
    text: str
    options: list[tuple[str, ...]]


def _sections(name: str) -> Iterator[_Section]:
    group = typer.main.get_command(_application(called=name))
    assert isinstance(group, TyperGroup)
    yield from _of(group.commands[name], f"podium {name}", COMMANDS[name][1], depth=2)


def _of(
    command: TyperCommand | TyperGroup, called: str, line: str, *, depth: int
) -> Iterator[_Section]:
    """A command, then its subcommands."""
    context = command.make_context(called, [], resilient_parsing=True)
    heading, text = f"{'#' * depth} {called}", _plain(command.help) or line
    if isinstance(command, TyperGroup):
        yield _Section(heading, text, [])
        for name, sub in command.commands.items():
            yield from _of(sub, f"{called} {name}", sub.short_help or "", depth=depth + 1)
        return
    records = [part.get_help_record(context) for part in command.params if part.name != "help"]
    told = [(f"`{name}`", _plain(said)) for name, said in filter(None, records)]
    yield _Section(heading, text, told)


def _plain(text: str | None) -> str:
    """Paragraphs of a docstring, one line each, without click's marks."""
    cleaned = inspect.cleandoc(text or "").replace("\b\n", "").replace("\f", "")
    return re.sub(r"(?<!\n)\n(?!\n)", " ", cleaned).strip()
