"""Thumbnails of many images in few files: one for each up to 256 of them."""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from PIL import Image

CELL_PIXELS = 64
"""Greatest height and width of a thumbnail."""

_COLUMNS = 16
_OF_SHEET = _COLUMNS**2
_QUALITY = 60  # of photographs; grey images of data sets keep every pixel


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One file of thumbnails in square cells, 16 in a row.

    Attributes:
        content: a WebP file.
        width: width in pixels.
        height: height in pixels.
    """

    content: bytes
    width: int
    height: int

    @property
    def data_uri(self) -> str:
        """The file as an address that needs no other file."""
        return f"data:image/webp;base64,{base64.b64encode(self.content).decode()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSheets:
    """The thumbnails of some images.

    Attributes:
        cell: height and width of a cell in pixels.
        sheets: files; the image at place p is on sheet p // 256.
    """

    cell: int
    sheets: tuple[Sheet, ...]

    @classmethod
    def of(cls, thumbnails: Sequence[Image.Image | None]) -> Self:
        """Sheets of thumbnails, each in the middle of its cell; None leaves its cell black."""
        cell = max((max(item.size) for item in thumbnails if item), default=1)
        parts = [
            thumbnails[start : start + _OF_SHEET] for start in range(0, len(thumbnails), _OF_SHEET)
        ]
        return cls(cell=cell, sheets=tuple(_sheet(part, cell) for part in parts))

    @property
    def num_bytes(self) -> int:
        """Bytes of all files."""
        return sum(len(sheet.content) for sheet in self.sheets)

    def cell_of(self, place: int) -> tuple[int, int, int]:
        """Index of the sheet of an image, and the left and upper edge of its cell in pixels."""
        sheet, within = divmod(place, _OF_SHEET)
        row, column = divmod(within, _COLUMNS)
        return sheet, column * self.cell, row * self.cell


def thumbnail(image: Image.Image) -> Image.Image:
    """The image with both sides within `CELL_PIXELS`: grey stays grey, all else becomes RGB."""
    small = image.convert("L" if image.mode in ("L", "1") else "RGB")
    small.thumbnail((CELL_PIXELS, CELL_PIXELS), Image.Resampling.LANCZOS)
    return small


def opened_png(content: bytes) -> Image.Image | None:
    """The image in a PNG file of the store; None if it cannot be decoded."""
    try:
        image = Image.open(io.BytesIO(content), formats=["PNG"])
        image.load()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return None
    return image


def _sheet(thumbnails: Sequence[Image.Image | None], cell: int) -> Sheet:
    is_grey = all(item is None or item.mode == "L" for item in thumbnails)
    columns, rows = min(_COLUMNS, len(thumbnails)), -(-len(thumbnails) // _COLUMNS)
    whole = Image.new("L" if is_grey else "RGB", (columns * cell, rows * cell))
    for place, item in enumerate(thumbnails):
        if item is not None:
            row, column = divmod(place, _COLUMNS)
            left, upper = (cell - item.width) // 2, (cell - item.height) // 2
            whole.paste(item, (column * cell + left, row * cell + upper))
    file = io.BytesIO()
    whole.save(file, "WEBP", lossless=is_grey, quality=100 if is_grey else _QUALITY, method=4)
    return Sheet(content=file.getvalue(), width=whole.width, height=whole.height)
