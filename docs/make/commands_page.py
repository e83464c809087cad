"""Makes docs/reference/commands.md from the command line itself."""

import inspect
import re
from collections.abc import Iterator

import typer
from typer.core import TyperCommand, TyperGroup

from docs.make.markdown import TOLD, table
from podium.cli import COMMANDS, _application

_OPENING = """\
# Commands

What `podium COMMAND -h` prints, of all commands. STUDY is a study file, the name of one that podium ships, such as
`quickstart`, or a results folder.
"""
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
    panels = dict.fromkeys(panel for panel, _ in COMMANDS.values())
    rows = [
        (f"[`podium {name}`](#podium-{name})", panel, line)
        for panel in panels
        for name, (its, line) in COMMANDS.items()
        if its == panel
    ]
    listed = table(("command", "group", "what it does"), rows)
    parts = [TOLD, _OPENING, f"{listed}\n", _EXIT_CODES]
    return "\n".join([*parts, *(part for name in COMMANDS for part in _command(name))])


def _command(name: str) -> Iterator[str]:
    group = typer.main.get_command(_application(called=name))
    assert isinstance(group, TyperGroup)
    yield from _section(group.commands[name], f"podium {name}", COMMANDS[name][1], depth=2)


def _section(
    command: TyperCommand | TyperGroup, called: str, line: str, *, depth: int
) -> Iterator[str]:
    """A heading, the help, and tables of arguments and options; then those of subcommands."""
    yield f"{'#' * depth} {called}\n"
    yield f"{_plain(command.help) or line}\n"
    context = command.make_context(called, [], resilient_parsing=True)
    if isinstance(command, TyperGroup):
        for name, sub in command.commands.items():
            yield from _section(sub, f"{called} {name}", sub.short_help or "", depth=depth + 1)
        return
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```text\n{called} {usage}\n```\n"
    records = [part.get_help_record(context) for part in command.params if part.name != "help"]
    rows = [(f"`{name}`", _plain(said)) for name, said in filter(None, records)]
    if rows:
        yield f"{table(('argument or option', 'what it does'), rows)}\n"


def _plain(text: str | None) -> str:
    """Paragraphs of a docstring, one line each, without click's marks."""
    cleaned = inspect.cleandoc(text or "").replace("\b\n", "").replace("\f", "")
    return re.sub(r"(?<!\n)\n(?!\n)", " ", cleaned).strip()
