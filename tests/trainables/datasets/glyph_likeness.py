"""Which characters look alike, measured on the fonts themselves. C = characters."""

import itertools
import unicodedata
from collections import Counter, defaultdict
from functools import cache

import numpy as np
from fontTools.ttLib import TTFont

from podium.trainables.datasets._glyph_alphabets import MIN_FACES
from podium.trainables.datasets._glyph_fonts import FACES, face_path
from podium.trainables.datasets._glyph_render import plain_glyph, softened

SCRIPTS = ("armenian", "cyrillic", "georgian", "greek", "latin", "symbols")
CANVAS = 64  # an image of 32 pixels each way, oversampled
FAINTEST = 0.55 * 255


@cache
def candidates(script):
    """What a script could consist of, in code-point order."""
    tables = _characters_by_face()
    every = sorted(set.union(*tables.values()))
    return [
        character
        for character in every
        if _belongs(script, character)
        and sum(character in table for table in tables.values()) >= MIN_FACES
        and _can_be_drawn(character)
    ]


def differences(characters):
    """Mean relative squared difference of each two undistorted images: shape (C, C)."""
    tables = _characters_by_face()
    total = np.zeros((len(characters), len(characters)))
    count = np.zeros_like(total)
    for face in FACES:
        rows = [row for row, character in enumerate(characters) if character in tables[face]]
        if rows:
            here = np.ix_(rows, rows)
            total[here] += _relative([_image(characters[row], face) for row in rows])
            count[here] += 1
    return total / count


def shared_outlines(characters):
    """In which share of the faces that two are both in their outlines are equal: shape (C, C)."""
    tables = _characters_by_face()
    row_of = {character: row for row, character in enumerate(characters)}
    shares = np.zeros((len(characters), len(characters)))
    for pair, count in _same_outlines(characters).items():
        rows = [row_of[character] for character in pair]
        share = count / sum(table.issuperset(pair) for table in tables.values())
        shares[rows, rows[::-1]] = share
    return shares


@cache
def _characters_by_face():
    tables = {}
    for face in FACES:
        with TTFont(face_path(face), lazy=True) as font:
            tables[face] = {chr(code) for code in font.getBestCmap()}
    return tables


def _same_outlines(characters):
    """Two characters -> in how many faces their outlines are equal."""
    same = Counter()
    for face in FACES:
        alike = defaultdict(list)
        for character, outline in _outlines(characters, face):
            alike[outline].append(character)
        same.update(pair for group in alike.values() for pair in itertools.combinations(group, 2))
    return same


def _outlines(characters, face):
    with TTFont(face_path(face), lazy=True) as font:
        glyphs, names = font["glyf"], font.getBestCmap()
        for character in characters:
            if ord(character) in names:
                points, ends, on_curve = glyphs[names[ord(character)]].getCoordinates(glyphs)
                yield character, (tuple(points), tuple(ends), bytes(on_curve))


def _belongs(script, character):
    category = unicodedata.category(character)
    if script == "symbols":
        return category in {"Sm", "So", "Sc"}
    name = unicodedata.name(character, "")
    return category in {"Lu", "Ll", "Lt", "Lo"} and name.startswith(f"{script.upper()} ")


def _can_be_drawn(character):
    for face, table in _characters_by_face().items():
        if character in table:
            glyph = plain_glyph(character, face, CANVAS)
            left, top, right, bottom = glyph.getbbox() or (0, 0, CANVAS, CANVAS)
            if min(left, top) == 0 or max(right, bottom) == CANVAS:
                return False
            if softened(glyph).getextrema()[1] < FAINTEST:
                return False
    return True


@cache
def _image(character, face):
    drawn = np.asarray(plain_glyph(character, face, CANVAS), dtype=np.float32)
    return drawn.reshape(CANVAS // 2, 2, CANVAS // 2, 2).sum((1, 3)).ravel()


def _relative(images):
    rows = np.stack(images)
    squares = (rows * rows).sum(1)
    sums = squares[:, None] + squares
    return (sums - 2 * rows @ rows.T) / sums
