"""Code blocks of pages: where they are, and the ways to run or to check them."""

import ast
import importlib.util
import re
import shlex
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import typer

from podium.cli import COMMANDS, _application

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FILES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
TEXTS = {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in FILES}

# Comments before a block of YAML, not shown on a page: keys to add to a small study, or to one
# that podium ships (`part of studies/NAME.yaml`); or YAML of another program.
FRAGMENT = "part of "
OTHER_YAML = "not a study"

_UNFINISHED = ("MissingParameter", "BadOptionUsage")  # typer names them nowhere else

_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"<!-- (.*?) -->\s*$")
# A file that a page shows: "The file `mine.py`:" or its path alone, then the block.
_FILE = re.compile(r"`([\w./-]+\.\w+)`:?\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A code block.

    Attributes:
        language: as written behind the fence.
        text: without the fences and without indentation.
        place: page and line.
        mark: the comment before it, if any.
        file: the file that the page says this is, if it does.
    """

    language: str
    text: str
    place: str
    mark: str
    file: str


def blocks(page: str, *languages: str) -> list[Block]:
    """The blocks of a page in these languages, in order."""
    text = TEXTS[page]
    found = []
    for match in _BLOCK.finditer(text):
        indent, language, code = match.groups()
        before = text[: match.start()]
        mark, file = _MARK.search(before), _FILE.search(before[-100:])
        found.append(
            Block(
                language=language,
                text=re.sub(f"^{indent}", "", code, flags=re.MULTILINE),
                place=f"{page}:{before.count(chr(10)) + 1}",
                mark=mark[1] if mark else "",
                file=file[1] if file else "",
            )
        )
    return [block for block in found if block.language in languages]


@cache
def run_python(page: str) -> dict[str, object]:
    """Execute the Python of a page in the current folder, one block after the other; only once.

    A block that imports a library which is not installed is only compiled.

    Returns:
        the names that the blocks leave.
    """
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks(page, "python"):
        code = compile(block.text, block.place, "exec")
        if all(map(importlib.util.find_spec, _imports(block.text))):
            exec(code, names)
    return names


def _imports(code: str) -> set[str]:
    """Top-level packages that code imports."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def typed_lines(page: str) -> list[str]:
    """What console blocks tell to type, without prompt."""
    lines = [line for block in blocks(page, "console") for line in block.text.splitlines()]
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


def shown_output(page: str, line: str) -> list[str]:
    """What a page shows below a line that is typed, in pieces where `...` leaves some out."""
    shown = [
        part.partition("\n")[2]
        for block in blocks(page, "console")
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)
        if part.partition("\n")[0] == line
    ]
    return [piece for text in shown for piece in re.split(r"^\.\.\.$", text, flags=re.MULTILINE)]


def podium_calls(page: str) -> list[list[str]]:
    """The words after ``podium`` of every call in console blocks, quoted ones too."""
    lines = [shlex.split(line, comments=True) for line in typed_lines(page)]
    quoted = [shlex.split(word) for words in lines for word in words if word.startswith("podium ")]
    return [words[1:] for words in [*lines, *quoted] if words[:1] == ["podium"]]


def parse(words: list[str], *, complete: bool) -> None:
    """Let the command line read words as it would, and call nothing.

    Args:
        words: after ``podium``.
        complete: whether required arguments must be there.

    Raises:
        AssertionError: it would not accept them.
    """
    assert words[0] in COMMANDS, words
    group = typer.main.get_command(_application(called=words[0]))
    command, rest = group.commands[words[0]], words[1:]
    if hasattr(command, "commands") and rest and rest[0] in command.commands:
        command, rest = command.commands[rest[0]], rest[1:]
    try:
        command.make_context(words[0], [word for word in rest if word not in ("-h", "--help")])
    except typer.TyperException as error:
        if complete or type(error).__name__ not in _UNFINISHED:
            raise AssertionError(f"podium {shlex.join(words)}: {error}") from error


def assert_shell_reads(text: str) -> None:
    """``bash -n`` finds nothing wrong."""
    read = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False)
    assert read.returncode == 0, read.stderr
