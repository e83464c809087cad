"""``podium datasets``: whether a data set on disk is whole, and files that losses ask of it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.arguments.key_value_argument import assignment
from podium.arguments.trial_argument import refuse_existing
from podium.commands import datasets_fetch
from podium.errors import PodiumError
from podium.terminal.printing import AsJson, print_json, print_table, say
from podium.trainables.dataset_interface.class_text import write_class_text
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.dataset_readers.image_checks import (
    TINY,
    ImageCheck,
    RoleCheck,
    check_images,
)
from podium.trainables.dataset_readers.read_images import READERS, read_images
from podium.trainables.settings.trial_settings import DatasetSettings

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

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

# What Roth et al. 2022 guide by, the text half of CLIP, as sentence-transformers calls it.
_MODEL = "clip-ViT-B-32"
_PROMPT = "A photo of {}"

# "001." of CUB200-2011 and "U+0041 " of glyphs count classes, they do not describe them.
_NUMBERING = re.compile(r"^(\d+\.|U\+[0-9A-F]+ )(?=.)")

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


@command.command()
def text(
    datasets: Annotated[
        list[str], typer.Argument(metavar="DATASET...", help="Names of data sets.")
    ],
    output: Annotated[Path, typer.Option(help="The CSV file to write.")],
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="OPTION=VALUE", help="An option of the data sets. Repeatable."
        ),
    ] = None,
    model: Annotated[str, typer.Option(help="A model of sentence-transformers.")] = _MODEL,
    prompt: Annotated[str, typer.Option(help="The sentence; {} is the class.")] = _PROMPT,
) -> None:
    """Write vectors for the names of all classes of data sets, for losses guided by language.

    Needs the extra `text` and downloads the model once. An existing file is left alone.
    """
    if prompt.count("{}") != 1:
        raise PodiumError(f"--prompt must have one {{}}, for the class; got {prompt!r}")
    refuse_existing(output)
    options = dict(map(assignment, overrides or ()))
    class_names = sorted(
        {
            class_name
            for name in datasets
            for class_name in load_dataset(
                DatasetSettings(name=name, options=options), None
            ).class_names
        }
    )
    sentences = [prompt.replace("{}", readable(name)) for name in class_names]
    vectors = _vectors(sentences, model)
    write_class_text(output, dict(zip(class_names, vectors, strict=True)))
    say(
        f"Wrote {len(vectors)} vectors of {vectors.shape[1]} numbers to {output}, such as that of "
        f"{sentences[0]!r}.\nNext: give the data set the option class_text: {output}"
    )


def readable(class_name: str) -> str:
    """A class name as words: without its number, and with spaces for underscores."""
    return _NUMBERING.sub("", class_name).replace("_", " ").strip()


def _vectors(sentences: Sequence[str], model: str) -> "npt.NDArray[np.float32]":
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise PodiumError(
            "podium datasets text needs sentence-transformers, which is not installed: "
            "pip install 'podium[text]', or in a checkout pip install '.[text]'"
        ) from error
    try:
        encoder = SentenceTransformer(model)
    except OSError as error:
        reason = str(error).strip().splitlines()[0]
        raise PodiumError(f"model {model!r} cannot be loaded: {reason}") from error
    vectors: npt.NDArray[np.float32] = encoder.encode(list(sentences), show_progress_bar=False)
    return vectors
