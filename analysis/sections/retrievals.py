"""What each loss retrieves for the same few queries."""

import base64
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from analysis.figures.style import Series
from analysis.page import Heading, Paragraph, Part, Section, fragment
from analysis.study_results import StudyResults

__all__ = ["images"]

_BLOCKS = 3
_QUERIES = 4
_LONG_PREFIX = 4
_SHOWN_PIXELS = 64  # page.css: 4rem


@dataclass(frozen=True, slots=True, kw_only=True)
class _Picture:
    """An image as a data URI.

    Attributes:
        source: the URI.
        class_name: of the image.
        label: the same without what the classes shown beside it begin with too.
        is_coarse: whether it is shown larger than it is, so that its pixels are to be seen.
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
    "The nearest images to a query among those that are searched, nearest first, for the hardest,"
    " a middling and the easiest block. Queries are the first ones stored, not picked by their"
    " outcome; each row is the first seed of a tuned loss."
)
_BY_CLASS = (
    "A solid frame with ✓ is an image of the query's class, a dashed frame with ✗ is an error and"
    " names the class it came from."
)
_BY_DISTANCE = (
    "They are retrieved by label distance, so none is right or wrong; the class below an image"
    " says only where it comes from."
)


def images(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """Galleries of a few blocks."""
    parts: list[Part] = []
    for gallery in _galleries(results, series):
        parts += [Heading(text=gallery.block), fragment("gallery.html.j2", gallery=gallery)]
    legend = _BY_CLASS if results.is_by_class else _BY_DISTANCE
    text = f"{_INTRODUCTION} {legend}" if parts else "No images were stored."
    return Section(
        name="images",
        title="Retrieved images",
        label="Retrieved images",
        parts=(Paragraph(text=text), *parts),
    )


def _galleries(results: StudyResults, series: Mapping[str, Series]) -> tuple[_Gallery, ...]:
    """The hardest, the middle and the easiest block by mean test score, four queries each.

    Queries are the first that every loss of the block stored, not picked by their outcome; the
    run shown is the first seed and fold of each tuned loss.
    """
    frame = results.retrievals
    galleries = []
    for block in _chosen_blocks(results, set(frame["block"])):
        runs = {
            str(loss): _first_run(part)
            for (loss,), part in frame.filter(pl.col("block") == block)
            .partition_by("loss", as_dict=True)
            .items()
        }
        shared = [key for key in next(iter(runs.values())) if all(key in r for r in runs.values())]
        keys = shared[:_QUERIES]
        prefix = _shared_prefix(keys, runs) if keys else ""
        queries = tuple(_query(key, runs, series, prefix) for key in keys)
        if queries:
            galleries.append(_Gallery(block=block, queries=queries))
    return tuple(galleries)


_Key = tuple[str, bytes]
_Run = Mapping[_Key, Sequence[Mapping[str, Any]]]


def _chosen_blocks(results: StudyResults, having: set[str]) -> list[str]:
    is_shown = (pl.col("finalist") == "winner") & (pl.col("k") == results.k)
    levels = (
        results.cells.filter(is_shown, pl.col("block").is_in(sorted(having)))
        .group_by("block")
        .agg(pl.col("recall").sort().mean())
        .sort("recall", "block", nulls_last=True)
    )
    blocks: list[str] = levels["block"].to_list()
    if len(blocks) <= _BLOCKS:
        return blocks
    return [blocks[0], blocks[len(blocks) // 2], blocks[-1]]


def _first_run(part: pl.DataFrame) -> _Run:
    """Query to neighbours, of the first seed and fold."""
    run = part.filter(
        pl.col("seed_index") == pl.col("seed_index").min(),
    ).filter(pl.col("fold") == pl.col("fold").min())
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
        source=f"data:image/png;base64,{base64.b64encode(png).decode()}",
        class_name=class_name,
        label=f"…{class_name.removeprefix(prefix)}" if prefix else class_name,
        is_coarse=max(sides) < _SHOWN_PIXELS,
        is_correct=is_correct,
    )
