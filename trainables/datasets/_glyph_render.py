"""Draws characters with small variations. Lengths are shares of the image's side.

Each image is a pure function of (seed, character, face, instance number, size): it does not
depend on the order of drawing or on which other characters are drawn.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
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

_MAX_TURN_DEGREES = 10.0
_MAX_SHEAR = 0.15
_MAX_LOG_SCALE = 0.15
_MAX_LOG_ASPECT = 0.10
_MAX_SHIFT = 0.05

# Ink is where the blurred glyph is above a level; a low level makes strokes bold, a high one thin.
_INK_LEVELS = (0.25, 0.50)
_INK_CONTRAST = 2.5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Variation:
    """How one instance differs from the plain glyph."""

    turn_degrees: float
    shear: float
    log_scale: float
    log_aspect: float
    shift_x: float
    shift_y: float
    ink_level: float

    @classmethod
    def of(cls, seed: int, character: str, face: str, instance: int) -> "_Variation":
        text = f"{seed}\0{character}\0{face}\0{instance}"
        words = np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype=">u4")
        shares = [float(word) / 2**31 - 1.0 for word in words]  # uniform in [-1, 1)
        low, high = _INK_LEVELS
        return cls(
            turn_degrees=_MAX_TURN_DEGREES * shares[0],
            shear=_MAX_SHEAR * shares[1],
            log_scale=_MAX_LOG_SCALE * shares[2],
            log_aspect=_MAX_LOG_ASPECT * shares[3],
            shift_x=_MAX_SHIFT * shares[4],
            shift_y=_MAX_SHIFT * shares[5],
            ink_level=(low + high) / 2 + (high - low) / 2 * shares[6],
        )

    def coefficients(self, size: int) -> tuple[float, ...]:
        """Where an image of ``size`` pixels looks in the drawing: PIL's six affine numbers."""
        turn = math.radians(self.turn_degrees)
        scale_x = math.exp(self.log_scale + self.log_aspect)
        scale_y = math.exp(self.log_scale - self.log_aspect)
        # The inverse of: scale, shear along x, turn, all about the centre, then shift.
        xx, xy = math.cos(turn), math.sin(turn)
        yx, yy = -math.sin(turn), math.cos(turn)
        a, b = (xx - self.shear * yx) / scale_x, (xy - self.shear * yy) / scale_x
        d, e = yx / scale_y, yy / scale_y
        centre = size / 2
        x, y = centre + self.shift_x * size, centre + self.shift_y * size
        inverse = (a, b, centre - a * x - b * y, d, e, centre - d * x - e * y)
        return tuple(_OVERSAMPLING * value for value in inverse)


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
            variation = _Variation.of(seed, character, face, instance)
            images[row] = _varied(
                _soft_glyph(character, face, _OVERSAMPLING * size), variation, size
            )
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


def _varied(glyph: Image.Image, variation: _Variation, size: int) -> npt.NDArray[np.uint8]:
    warped = glyph.transform(
        (size, size),
        Image.Transform.AFFINE,
        variation.coefficients(size),
        Image.Resampling.BILINEAR,
    )
    ink = np.asarray(warped, dtype=np.float64) / 255 - variation.ink_level
    return np.rint(255 * np.clip(_INK_CONTRAST * ink + 0.5, 0.0, 1.0)).astype(np.uint8)


@lru_cache(maxsize=64)
def _font(face: str, pixels: int) -> ImageFont.FreeTypeFont:
    # The basic layout draws the same everywhere; Raqm is not in every Pillow.
    return ImageFont.truetype(face_path(face), pixels, layout_engine=ImageFont.Layout.BASIC)
