"""Draws characters with small variations. Lengths are shares of the image's side.

Each image is a pure function of (seed, character, face, instance number, size): it does not
depend on the order of drawing or on which other characters are drawn.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from podium.trainables.dataset_interface.class_splits import seeded_order
from podium.trainables.datasets._glyph_fonts import face_path

RENDER_VERSION = 1  # raised whenever a change here changes a pixel

_FONT_SIZE = 0.625
_BASELINE = 0.7
_OVERSAMPLING = 2
_BLUR = 0.015

# What an instance differs by from the plain glyph at most, both ways: the degrees of a turn, a
# shear, the logarithms of scale and aspect, and a shift along both axes.
_MOST = (10.0, 0.15, 0.15, 0.10, 0.05, 0.05)

# Ink is where the blurred glyph is above a level; a low level makes strokes bold, a high one thin.
_INK_LEVELS = (0.25, 0.50)
_INK_CONTRAST = 2.5


def render_glyphs(
    faces: Mapping[str, tuple[str, ...]], *, instances: int, seed: int, size: int
) -> npt.NDArray[np.uint8]:
    """All images, character by character in the mapping's order: shape (C * instances, H, W).

    Args:
        faces: for each character the faces that have it. Each character goes through its faces in
            a seeded order of its own, and through them again where instances outnumber faces.
        instances: images per character.
        seed: seed of faces and variations.
        size: height and width in pixels.

    Returns:
        Ink is 255, ground is 0.
    """
    images = np.empty((len(faces) * instances, size, size), dtype=np.uint8)
    row = 0
    for character, having in faces.items():
        order = seeded_order(having, f"{seed} {character}")
        for instance in range(instances):
            face = order[instance % len(order)]
            drawn = f"{seed}\0{character}\0{face}\0{instance}"
            images[row] = _varied(_soft_glyph(character, face, _OVERSAMPLING * size), drawn, size)
            row += 1
    return images


def plain_glyph(character: str, face: str, canvas: int) -> Image.Image:
    """The glyph as the face has it, on its baseline, on a canvas of that many pixels each way."""
    image = Image.new("L", (canvas, canvas))
    font = _font(face, round(_FONT_SIZE * canvas))
    place = (canvas / 2, round(_BASELINE * canvas))
    ImageDraw.Draw(image).text(place, character, fill=255, font=font, anchor="ms")
    return image


def softened(glyph: Image.Image) -> Image.Image:
    """A drawn glyph with soft edges, between whose levels strokes become bolder or thinner."""
    return glyph.filter(ImageFilter.GaussianBlur(_BLUR * glyph.width))


@lru_cache(maxsize=64)
def _soft_glyph(character: str, face: str, canvas: int) -> Image.Image:
    return softened(plain_glyph(character, face, canvas))


def _varied(glyph: Image.Image, drawn: str, size: int) -> npt.NDArray[np.uint8]:
    *differences, ink_share = _variation(drawn)
    warped = glyph.transform(
        (size, size),
        Image.Transform.AFFINE,
        _coefficients(differences, size),
        Image.Resampling.BILINEAR,
    )
    low, high = _INK_LEVELS
    ink_level = (low + high) / 2 + (high - low) / 2 * ink_share
    ink = np.asarray(warped, dtype=np.float64) / 255 - ink_level
    return np.rint(255 * np.clip(_INK_CONTRAST * ink + 0.5, 0.0, 1.0)).astype(np.uint8)


def _variation(drawn: str) -> list[float]:
    """The differences in the order of `_MOST`, then a share of the ink level; by a text's hash."""
    words = np.frombuffer(hashlib.sha256(drawn.encode()).digest(), dtype=">u4")
    shares = [float(word) / 2**31 - 1.0 for word in words]  # uniform in [-1, 1)
    return [most * share for most, share in zip((*_MOST, 1.0), shares, strict=False)]


def _coefficients(differences: Sequence[float], size: int) -> tuple[float, ...]:
    """Where an image of ``size`` pixels looks in the drawing: PIL's six affine numbers."""
    turn_degrees, shear, log_scale, log_aspect, shift_x, shift_y = differences
    turn = math.radians(turn_degrees)
    scale_x, scale_y = math.exp(log_scale + log_aspect), math.exp(log_scale - log_aspect)
    # The inverse of: scale, shear along x, turn, all about the centre, then shift.
    xx, xy = math.cos(turn), math.sin(turn)
    yx, yy = -math.sin(turn), math.cos(turn)
    a, b = (xx - shear * yx) / scale_x, (xy - shear * yy) / scale_x
    d, e = yx / scale_y, yy / scale_y
    centre = size / 2
    x, y = centre + shift_x * size, centre + shift_y * size
    inverse = (a, b, centre - a * x - b * y, d, e, centre - d * x - e * y)
    return tuple(_OVERSAMPLING * value for value in inverse)


@lru_cache(maxsize=64)
def _font(face: str, pixels: int) -> ImageFont.FreeTypeFont:
    # The basic layout draws the same everywhere; Raqm is not in every Pillow.
    return ImageFont.truetype(face_path(face), pixels, layout_engine=ImageFont.Layout.BASIC)
