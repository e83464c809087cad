"""Retrieved images: what each loss retrieves for the same few queries."""

import base64
import io
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from PIL import Image

from analysis.figures.series import Series
from analysis.page.html_page import Heading, Paragraph, Part, Section, fragment
from analysis.report.shown_blocks import spread_blocks
from analysis.study_results.study_results import StudyResults

_BLOCKS = 3
_QUERIES = 4
_MOST_PICTURES = 200  # of a page; a photograph takes 2 to 3 kB
_LARGE_BYTES = 4_000
_QUALITY = 50
_PHOTOGRAPH_PIXELS = 80
_LONG_PREFIX = 4
_SHOWN_PIXELS = 64  # page.css: 4rem


@dataclass(frozen=True, slots=True, kw_only=True)
class _Picture:
    """An image as a data URI.

    Attributes:
        source: the URI.
        class_name: name of the image's class.
        label: the same without the prefix that all classes shown beside it share.
        is_coarse: whether it is shown enlarged, so that its pixels are visible.
        is_correct: None for the query itself, and where images are not retrieved by class.
    """

    source: str
    class_name: str
    label: str
    is_coarse: bool
    is_correct: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _RetrievedRow:
    """The neighbours one loss found, nearest first."""

    series: Series
    neighbours: tuple[_Picture, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Query:
    """One query image and a row for each loss."""

    picture: _Picture
    rows: tuple[_RetrievedRow, ...]

    @property
    def num_neighbours(self) -> int:
        """Of the longest row."""
        return max(len(row.neighbours) for row in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gallery:
    """The queries of one block."""

    block: str
    queries: tuple[_Query, ...]


_INTRODUCTION = (
    "The nearest images to a query among those that are searched, nearest first{blocks}. Queries"
    " are the first ones stored, not selected by their outcome; each row is the first seed of a"
    " tuned loss."
)
_WHICH_BLOCKS = {
    1: ", for one block",
    2: ", for the hardest and the easiest block",
    3: ", for the hardest, a middling and the easiest block",
}
_BY_CLASS = (
    "A solid frame with ✓ is an image of the query's class, a dashed frame with ✗ is an error and"
    " names the class it came from."
)
_BY_DISTANCE = (
    "They are retrieved by label distance, so none is right or wrong; the class below an image"
    " says only where it comes from."
)


def retrievals(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """The section: galleries of a few blocks."""
    parts: list[Part] = []
    galleries = _galleries(results, series)
    for gallery in galleries:
        parts += [Heading(text=gallery.block), fragment("gallery.html.j2", gallery=gallery)]
    legend = _BY_CLASS if results.is_by_class else _BY_DISTANCE
    introduction = _INTRODUCTION.format(blocks=_WHICH_BLOCKS.get(len(galleries), ""))
    text = f"{introduction} {legend}" if parts else "No images were stored."
    return Section(name="images", title="Retrieved images", parts=(Paragraph(text=text), *parts))


def _galleries(results: StudyResults, series: Mapping[str, Series]) -> tuple[_Gallery, ...]:
    """The hardest, the middle and the easiest block by mean test score, four queries each.

    With many losses there are fewer queries, and with very many a single block.
    Queries are the first that every loss of the block stored, not picked by their outcome; the
    run shown is the first seed and fold of each tuned loss.
    """
    frame = (
        results.reader.test_retrievals()
        .filter(results.is_winner)
        .select("block", "loss", "seed_index", "fold", "class_name", "png", "neighbours")
        .collect()
        .sort("block", "loss", "seed_index", "fold", maintain_order=True)
    )
    galleries = []
    blocks, num_queries = _room(results, frame)
    for block in blocks:
        runs = {
            str(loss): _first_run(part)
            for (loss,), part in frame.filter(pl.col("block") == block)
            .partition_by("loss", as_dict=True)
            .items()
        }
        shared = [key for key in next(iter(runs.values())) if all(key in r for r in runs.values())]
        keys = shared[:num_queries]
        prefix = _shared_prefix(keys, runs) if keys else ""
        queries = tuple(_query(key, runs, series, prefix) for key in keys)
        if queries:
            galleries.append(_Gallery(block=block, queries=queries))
    return tuple(galleries)


_Key = tuple[str, bytes]
_Run = Mapping[_Key, Sequence[Mapping[str, Any]]]


def _room(results: StudyResults, frame: pl.DataFrame) -> tuple[list[str], int]:
    """Which blocks are shown, and how many queries of each."""
    longest = frame["neighbours"].list.len().max() if len(frame) else 0
    a_query = 1 + frame["loss"].n_unique() * int(str(longest or 0))
    having = set(frame["block"])
    most = _BLOCKS if _BLOCKS * a_query <= _MOST_PICTURES else 1
    blocks = spread_blocks(results, having, most)
    room = _MOST_PICTURES // (a_query * max(1, len(blocks)))
    return blocks, max(1, min(_QUERIES, room))


def _first_run(part: pl.DataFrame) -> _Run:
    """Query to neighbours, of the first seed and fold."""
    run = part.filter(pl.col("seed_index") == pl.col("seed_index").min()).filter(
        pl.col("fold") == pl.col("fold").min()
    )
    return {(row["class_name"], row["png"]): row["neighbours"] for row in run.to_dicts()}


def _shared_prefix(keys: Sequence[_Key], runs: Mapping[str, _Run]) -> str:
    """What all class names begin with, such as the ``id_0000`` of In-Shop; "" if it is short."""
    names = {name for name, _ in keys}
    names |= {found["class_name"] for run in runs.values() for key in keys for found in run[key]}
    first, last = min(names), max(names)  # what these share, all between them share
    pairs = zip(first, last, strict=False)
    length = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    return first[:length] if length >= _LONG_PREFIX and len(names) > 1 else ""


def _query(
    key: _Key, runs: Mapping[str, _Run], series: Mapping[str, Series], prefix: str
) -> _Query:
    class_name, png = key
    return _Query(
        picture=_picture(prefix, png, class_name),
        rows=tuple(
            _RetrievedRow(
                series=series[loss],
                neighbours=tuple(
                    _picture(
                        prefix, neighbour["png"], neighbour["class_name"], neighbour["is_correct"]
                    )
                    for neighbour in runs[loss][key]
                ),
            )
            for loss in sorted(runs)
        ),
    )


def _picture(prefix: str, png: bytes, class_name: str, is_correct: bool | None = None) -> _Picture:
    sides = (int.from_bytes(png[16:20]), int.from_bytes(png[20:24]))  # where every PNG has them
    return _Picture(
        source=_data_uri(png),
        class_name=class_name,
        label=f"…{class_name.removeprefix(prefix)}" if prefix else class_name,
        is_coarse=max(sides) < _SHOWN_PIXELS,
        is_correct=is_correct,
    )


def _data_uri(png: bytes) -> str:
    """The picture for the page: photographs as WebP, a tenth of their PNG; small ones as is."""
    kind, data = "png", png
    if len(png) > _LARGE_BYTES:
        buffer = io.BytesIO()
        image = Image.open(io.BytesIO(png)).convert("RGB")
        image.thumbnail((_PHOTOGRAPH_PIXELS, _PHOTOGRAPH_PIXELS), Image.Resampling.LANCZOS)
        image.save(buffer, "WEBP", quality=_QUALITY, method=6)
        kind, data = "webp", buffer.getvalue()
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
