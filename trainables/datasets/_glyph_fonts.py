"""The typefaces that matplotlib ships, found without importing matplotlib."""

import hashlib
import importlib.util
from functools import cache
from pathlib import Path

from podium.trainables.datasets._glyph_alphabets import MIN_FACES
from podium.trainables.errors import TrialInputError

# Text faces with Unicode tables; matplotlib's other fonts have the codes of TeX, or one size only.
FACES = (
    "DejaVuSans",
    "DejaVuSans-Bold",
    "DejaVuSans-BoldOblique",
    "DejaVuSans-Oblique",
    "DejaVuSansMono",
    "DejaVuSansMono-Bold",
    "DejaVuSansMono-BoldOblique",
    "DejaVuSansMono-Oblique",
    "DejaVuSerif",
    "DejaVuSerif-Bold",
    "DejaVuSerif-BoldItalic",
    "DejaVuSerif-Italic",
    "STIXGeneral",
    "STIXGeneralBol",
    "STIXGeneralBolIta",
    "STIXGeneralItalic",
)


def face_path(face: str) -> Path:
    """The font file of a face."""
    return _font_folder() / f"{face}.ttf"


@cache
def fonts_hash() -> str:
    """Hash of all font files: images made from other fonts are other images."""
    content = hashlib.sha256()
    for face in FACES:
        content.update(_bytes(face))
    return content.hexdigest()


def faces_by_character(characters: str) -> dict[str, tuple[str, ...]]:
    """For each character the faces that have it, in the order of `FACES`.

    Raises:
        TrialInputError: a character is in fewer than `MIN_FACES` faces; the fonts have changed.
    """
    tables = {face: _characters_of(face) for face in FACES}
    faces = {
        character: tuple(face for face in FACES if ord(character) in tables[face])
        for character in characters
    }
    for character, having in faces.items():
        if len(having) < MIN_FACES:
            from importlib.metadata import version  # slow to import

            raise TrialInputError(
                f"glyphs needs every character in at least {MIN_FACES} of {len(FACES)} faces; "
                f"U+{ord(character):04X} is in {len(having)}: matplotlib "
                f"{version('matplotlib')} ships other fonts than expected"
            )
    return faces


def _characters_of(face: str) -> frozenset[int]:
    from fontTools.ttLib import TTFont  # slow to import, and not needed once images are cached

    with TTFont(face_path(face), lazy=True) as font:
        return frozenset(font.getBestCmap())


def _bytes(face: str) -> bytes:
    try:
        return face_path(face).read_bytes()
    except OSError as error:
        raise TrialInputError(
            f"glyphs is drawn from the fonts matplotlib ships; {face_path(face)}: {error.strerror}"
        ) from error


@cache
def _font_folder() -> Path:
    found = importlib.util.find_spec("matplotlib")
    assert found is not None, "podium requires it"
    return Path(found.origin or "").parent / "mpl-data" / "fonts" / "ttf"
