"""The part of architecture.md that draws the rooms: what each holds."""

import ast
import textwrap
from pathlib import Path

from tests.module_graph import PACKAGES, ROOT
from tests.rooms import CATALOGUES, ROOMS

_BEGIN = "<!-- Rooms: made by `python -m docs.generate` from tests/rooms.py -->\n"
_END = "<!-- End of rooms -->\n"
_WIDTH = 106


def with_rooms(page: Path) -> str:
    """The text of a page, its drawing of the rooms made anew between the two marks."""
    before, _, rest = page.read_text(encoding="utf-8").partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n{_tree()}\n{_END}{after}"


def _tree() -> str:
    """One line a room, package by package; a star marks a catalogue."""
    lines = [line for package in PACKAGES for room in _rooms_of(package) for line in _line(room)]
    return "```text\n" + "\n".join(lines) + "\n```\n"


def _rooms_of(package: str) -> list[str]:
    return sorted(room for room in ROOMS if room == package or room.startswith(f"{package}/"))


def _line(room: str) -> list[str]:
    depth = room.count("/")
    name = f"{room.rpartition('/')[2]}/" + (" *" if room in CATALOGUES else "")
    head = f"{'  ' * depth}{name}".ljust(24)
    return textwrap.wrap(
        _sentence(room), _WIDTH, initial_indent=head, subsequent_indent=" " * len(head)
    )


def _sentence(room: str) -> str:
    source = (ROOT / room / "__init__.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
