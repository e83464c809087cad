"""Retrieved images: a browser of queries and of what each loss retrieves for them.

Q = queries, L = losses, K = neighbours.
"""

import base64
import io
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import polars as pl
from PIL import Image

from analysis.figures.series import Series
from analysis.page.html_page import Paragraph, Section, fragment
from analysis.report.shown_blocks import spread_blocks
from analysis.study_results.retrieved_images import (
    Retrieved,
    query_orders,
    retrieved_by_embeddings,
    retrieved_by_pictures,
    stored_pictures,
)
from analysis.study_results.study_results import StudyResults

MOST_BYTES = 1_500_000
"""Of thumbnails and lists of neighbours in a page."""

_BLOCKS = 8
_MOST_PRODUCTS = 5e10  # multiplications of all searches: some five seconds of one core
_QUERIES_A_PAGE = 4
_ROWS_A_PAGE = 24
_SIDE = 64  # of a thumbnail, in pixels
_QUALITY = 60  # of photographs; grey images of data sets keep every pixel
_NEIGHBOUR_BYTES = 8.5  # of a place and a similarity as text
_HUNDREDTHS = 100  # of a similarity

_ORDERS = {
    "sampled": "Sampled over classes",
    "worst": "Most errors first",
    "best": "Fewest errors first",
    "disagreements": "Losses disagree",
}

_INTRODUCTION = (
    "Test queries and their nearest images, nearest first, by the first seed of each tuned loss."
    " Below an image: its cosine to the query, or minus the distance where a loss learns lengths."
)
_BY_CLASS = (
    "✓: of the query's class; ✗: of the class it names. Only queries sampled over classes are"
    " selected by no outcome; do not compare losses by the others."
)
_BY_DISTANCE = (
    "They are retrieved by label distance, so none is right or wrong; the class below an image"
    " says only where it comes from."
)
_WHICH = (
    "Where a block does not have all, they are the first of each order, taken in turn until the"
    " page is full. Any query can be shown where embeddings were kept and the data set is on the"
    " machine that makes the page; otherwise only those that trials stored with their images."
)

_Picture = Callable[[int], Image.Image | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """One block of the browser.

    Attributes:
        name: label of the block.
        retrieved: what its losses retrieve.
        picture: gives an image by its index in ``retrieved``.
    """

    name: str
    retrieved: Retrieved
    picture: _Picture


def retrievals(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """The section: at most eight blocks, from the hardest to the easiest by mean test score.

    Of a block all test queries are looked through where its embeddings were kept and its images
    are at hand, and otherwise the few that trials stored with pictures.
    """
    blocks = list(_blocks(results))
    if not blocks:
        parts = (Paragraph(text="No images were stored."),)
        return Section(name="images", title="Retrieved images", parts=parts)
    records = _records(blocks, series)
    shown = sum(len(record["queries"]) for record in records)
    every = sum(block.retrieved.num_queries for block in blocks)
    legend = _BY_CLASS if results.is_by_class else _BY_DISTANCE
    return Section(
        name="images",
        title="Retrieved images",
        parts=(
            Paragraph(text=f"{_INTRODUCTION} {legend}"),
            fragment(
                "retrieval.html.j2",
                blocks=[
                    f"{record['name']} ({len(record['queries']):,} of"
                    f" {block.retrieved.num_queries:,} queries)"
                    for block, record in zip(blocks, records, strict=True)
                ],
                orders=[(name, _ORDERS[name]) for name in records[0]["orders"]],
                data=records,
            ),
            Paragraph(
                text=f"The page has {shown:,} of {every:,} queries of the test. {_WHICH}",
                style="note",
            ),
        ),
    )


def _blocks(results: StudyResults) -> Iterator[_Block]:
    names = spread_blocks(results, set(results.winners["block"]), _BLOCKS)
    most_products = _MOST_PRODUCTS / max(1, len(names) * len(results.losses))
    pictures = cache(lambda: stored_pictures(results, names))  # read only where they are needed
    for name in names:
        found = retrieved_by_embeddings(results, name, most_products=most_products)
        picture = _picture_at_hand(results, name, found[1].dataset["test_hash"]) if found else None
        if found and picture:
            indices_N = found[1].indices_N.tolist()
            yield _Block(
                name=name, retrieved=found[0], picture=partial(_at_index, picture, indices_N)
            )
        elif few := retrieved_by_pictures(results, pictures(), name):
            retrieved, pngs = few
            yield _Block(name=name, retrieved=retrieved, picture=partial(_stored_png, pngs))


def _at_index(picture: _Picture, indices_N: Sequence[int], image: int) -> Image.Image | None:
    return picture(indices_N[image])


def _stored_png(pngs: Sequence[bytes], image: int) -> Image.Image | None:
    return opened_png(pngs[image])


def _picture_at_hand(results: StudyResults, block: str, test_hash: str) -> _Picture | None:
    if results.images is None:
        return None
    (dataset,) = results.winners.filter(pl.col("block") == block)["dataset"].unique()
    return results.images(dataset, test_hash)


def _records(blocks: list[_Block], series: Mapping[str, Series]) -> list[dict[str, Any]]:
    """What the script needs of each block; what blocks of few queries leave, others take."""
    room: float = MOST_BYTES
    records = {}
    in_turn = sorted(blocks, key=lambda block: (len(block.retrieved.queries_Q), block.name))
    for left, block in zip(range(len(blocks), 0, -1), in_turn, strict=True):
        records[block.name], taken = _record(block, series, room / left)
        room -= taken
    return [records[block.name] for block in blocks]


def _record(
    block: _Block, series: Mapping[str, Series], room: float
) -> tuple[dict[str, Any], float]:
    """As many queries as there is room for, at least one, and the bytes they take.

    They are taken in turn from each order. Images are places in a list of class and thumbnail.
    """
    retrieved = block.retrieved
    orders = {name: order.tolist() for name, order in query_orders(retrieved).items()}
    chosen: dict[int, None] = {}
    images: dict[int, str] = {}
    taken = 0.0
    for query in itertools.chain.from_iterable(itertools.zip_longest(*orders.values())):
        if query is None or query in chosen:
            continue
        of_query = [int(retrieved.queries_Q[query])]
        of_query += retrieved.neighbours_LQK[:, query].ravel().tolist()
        more = {it: thumbnail(block.picture(it)) for it in of_query if it not in images}
        size = sum(map(len, more.values())) + _NEIGHBOUR_BYTES * len(of_query)
        if chosen and taken + size > room:
            break
        taken += size
        images |= more
        chosen[query] = None
    queries = sorted(chosen)
    places = {image: place for place, image in enumerate(images)}
    labels = retrieved.labels_N[list(images)].tolist()
    names = sorted({retrieved.class_names[label] for label in labels})
    numbers = {name: number for number, name in enumerate(names)}
    num_rows = len(retrieved.losses)
    record = {
        "name": block.name,
        "losses": [[loss, series[loss].key] for loss in retrieved.losses],
        "byClass": retrieved.is_by_class,
        "classes": names,
        "images": [
            [numbers[retrieved.class_names[label]], content]
            for label, content in zip(labels, images.values(), strict=True)
        ],
        "pageSize": max(1, min(_QUERIES_A_PAGE, _ROWS_A_PAGE // num_rows)),
        "queries": [places[int(retrieved.queries_Q[query])] for query in queries],
        "neighbours": [
            [[places[it] for it in row] for row in retrieved.neighbours_LQK[:, query].tolist()]
            for query in queries
        ],
        "similarities": [
            (_HUNDREDTHS * retrieved.similarities_LQK[:, query]).round().astype(int).tolist()
            for query in queries
        ],
        "orders": {
            name: [queries.index(it) for it in itertools.takewhile(chosen.__contains__, order)]
            for name, order in orders.items()
        },
    }
    return record, taken


def thumbnail(image: Image.Image | None) -> str:
    """A WebP file in base64, both sides within 64 pixels; a black one for None.

    Grey stays grey and keeps every pixel, all else becomes RGB.
    """
    small = Image.new("L", (1, 1)) if image is None else image
    small = small.convert("L" if small.mode in ("L", "1") else "RGB")
    small.thumbnail((_SIDE, _SIDE), Image.Resampling.LANCZOS)
    is_grey = small.mode == "L"
    file = io.BytesIO()
    small.save(file, "WEBP", lossless=is_grey, quality=100 if is_grey else _QUALITY, method=4)
    return base64.b64encode(file.getvalue()).decode()


def opened_png(content: bytes) -> Image.Image | None:
    """The image in a PNG file of the store; None if it cannot be decoded."""
    try:
        image = Image.open(io.BytesIO(content), formats=["PNG"])
        image.load()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return None
    return image
