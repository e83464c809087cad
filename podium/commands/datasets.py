"""``podium datasets check``: whether a data set on disk is whole."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from podium.printing import AsJson, print_json, print_table
from trainables.published.checking import TINY, ImageCheck, RoleCheck, check_images
from trainables.published.reading import READERS, read_images

__all__ = ["command"]

_NUM_SHOWN = 20


class _Action(StrEnum):
    CHECK = "check"


def command(
    action: Annotated[_Action, typer.Argument(metavar="check", help="What to do.")],
    name: Annotated[
        str, typer.Argument(metavar="NAME", help=f"The data set: {', '.join(READERS)}.")
    ],
    root: Annotated[Path, typer.Argument(metavar="ROOT", help="Where it was unpacked.")],
    duplicates: Annotated[
        bool, typer.Option("--duplicates", help="Also look for files of equal bytes.")
    ] = False,
    allow_partial: Annotated[
        bool,
        typer.Option("--allow-partial", help="Take what is there, whatever was published."),
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Check a data set on disk: counts against the published ones, and every image decoded.

    Exit code 2 if anything is missing, miscounted or broken. Grey, transparent and tiny images,
    classes of one image and duplicates are told, and are no error.
    """
    images = read_images(name, root.expanduser(), allow_partial=allow_partial)
    with _progress(len(images.paths)) as advance:
        found = check_images(images, find_duplicates=duplicates, progress=advance)
    if as_json:
        print_json({"dataset": name, "root": str(root), **_record(found)})
    else:
        print_table([_row(role) for role in found.roles])
        for note in _notes(found):
            typer.echo(note)
    if not found.broken:
        return 0
    if not as_json:
        lines = [f"  {image.path}: {image.reason}" for image in found.broken]
        typer.echo(
            f"podium: {name}: {len(lines)} of {len(images.paths)} images cannot be read:\n"
            + _some(lines),
            err=True,
        )
    return 2


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """A bar on standard error, where somebody can see it."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("Images", total=total)
        yield lambda: bar.advance(task)


def _row(role: RoleCheck) -> dict[str, object]:
    return {
        "role": role.role,
        "classes": role.classes,
        "images": role.images,
        "min": role.min_per_class,
        "median": role.median_per_class,
        "max": role.max_per_class,
        "singletons": role.singletons,
        "smallest side": role.smallest_side,
        "modes": ", ".join(f"{mode} {count}" for mode, count in role.modes.items()) or None,
    }


def _notes(found: ImageCheck) -> Iterator[str]:
    """What is worth knowing and no error."""
    if found.tiny:
        yield f"Images with a side below {TINY} pixels: {len(found.tiny)}"
        yield _some([f"  {path}" for path in found.tiny])
    if found.queries_without_gallery:
        yield f"Query classes without a gallery image: {len(found.queries_without_gallery)}"
        yield _some([f"  {name}" for name in found.queries_without_gallery])
    if found.duplicates:
        yield f"Groups of files of equal bytes: {len(found.duplicates)}"
        yield _some([f"  {', '.join(map(str, group))}" for group in found.duplicates])
    elif found.duplicates is not None:
        yield "Groups of files of equal bytes: none"


def _record(found: ImageCheck) -> dict[str, object]:
    groups = found.duplicates
    return {
        "roles": [asdict(role) for role in found.roles],
        "broken": [{"path": str(image.path), "reason": image.reason} for image in found.broken],
        "tiny": list(map(str, found.tiny)),
        "queries_without_gallery": list(found.queries_without_gallery),
        "duplicates": None if groups is None else [list(map(str, group)) for group in groups],
    }


def _some(lines: list[str]) -> str:
    more = len(lines) - _NUM_SHOWN
    return "\n".join([*lines[:_NUM_SHOWN], *([f"  and {more} more"] if more > 0 else [])])
