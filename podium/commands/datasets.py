"""``podium datasets``: whether a data set on disk is whole, and files that losses ask of it."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from podium.commands import datasets_fetch, datasets_text
from podium.terminal.printing import AsJson, print_json, print_table, say
from podium.trainables.dataset_readers.image_checks import (
    TINY,
    ImageCheck,
    RoleCheck,
    check_images,
)
from podium.trainables.dataset_readers.read_images import READERS, read_images

_NUM_SHOWN = 20
_BROKEN = 2
_SEE_THROUGH = (
    "Images with transparent pixels, whose hidden colours are seen (in a study transparency: white"
    " or black lays them on that)"
)
_TURNED = (
    "Images that were not held upright (EXIF), which are seen as they are stored (in a study"
    " upright: true turns them)"
)

command = typer.Typer(
    help="Fetch pictures, check a data set on disk, or write files that some losses need of it.",
    no_args_is_help=True,
)


@command.command()
def check(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help=f"The data set: {', '.join(READERS)}.")
    ],
    root: Annotated[Path, typer.Argument(metavar="ROOT", help="Where it was unpacked.")],
    duplicates: Annotated[
        bool, typer.Option("--duplicates", help="Also look for files of equal bytes.")
    ] = False,
    allow_partial: Annotated[
        bool, typer.Option("--allow-partial", help="Take what is there, whatever was published.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Compare counts with the published ones and decode every image.

    Exit code 2 if anything is missing, miscounted or broken. Grey, transparent and tiny images,
    classes of one image and duplicates are reported, and are no error.
    """
    images = read_images(name, root.expanduser(), allow_partial=allow_partial)
    found = check_images(images, find_duplicates=duplicates)
    if as_json:
        known = {"dataset": images.dataset, "root": root, "left_out": dict(images.left_out)}
        broken = [{"path": path, "reason": reason} for path, reason in found.broken]
        print_json({**known, **asdict(found), "broken": broken})
    else:
        print_table([_row(role) for role in found.roles])
        if images.left_out_text:
            say(images.left_out_text.capitalize())
        for note in _notes(found):
            say(note)
    if not found.broken:
        return 0
    if not as_json:
        lines = [f"  {path}: {reason}" for path, reason in found.broken]
        say(
            f"podium: {images.dataset}: {len(lines)} of {len(images.paths)} images cannot be "
            f"read:\n{_some(lines)}",
            err=True,
        )
    return _BROKEN


command.command("fetch")(datasets_fetch.command)
command.command("text")(datasets_text.command)


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
    lists = {
        _SEE_THROUGH: found.see_through,
        _TURNED: found.turned,
        f"Images with a side below {TINY} pixels": found.tiny,
        "Query classes without a gallery image": found.queries_without_gallery,
        "Groups of files of equal bytes": map(_line, found.duplicates or ()),
        "Of these, with images to train on and to test on": map(_line, found.leaks or ()),
    }
    for said, items in lists.items():
        if lines := [f"  {item}" for item in items]:
            yield f"{said}: {len(lines)}\n{_some(lines)}"
    if found.duplicates == ():
        yield "Groups of files of equal bytes: none"


def _line(group: tuple[Path, ...]) -> str:
    return ", ".join(map(str, group))


def _some(lines: list[str]) -> str:
    more = len(lines) - _NUM_SHOWN
    return "\n".join([*lines[:_NUM_SHOWN], *([f"  and {more} more"] if more > 0 else [])])
