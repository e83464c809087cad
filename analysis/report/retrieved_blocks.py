"""The blocks of the browser of retrieved images: queries, confused classes and thumbnails."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import polars as pl
from PIL import Image

from analysis.report.image_sheets import ImageSheets, opened_png, thumbnail
from analysis.report.shown_blocks import spread_blocks
from analysis.report.shown_queries import ShownQueries, shown_queries
from analysis.study_results.retrieved_images import (
    ConfusedPair,
    Retrieved,
    confused_pairs,
    retrieved_by_embeddings,
    retrieved_by_pictures,
    stored_pictures,
)
from analysis.study_results.study_results import StudyResults

MOST_BYTES = 1_500_000
"""Of thumbnails and lists of neighbours in a page; of lists alone where images lie beside it."""

_BLOCKS = 8
_PAIRS = 10  # confused pairs of classes of a block
_MOST_PRODUCTS = 5e10  # multiplications of all searches: some five seconds of one core
_TRIED = 64  # thumbnails by which the size of one is estimated
_BASE64 = 4 / 3
_NEIGHBOUR_BYTES = 8.5  # of a place and a similarity as text
_QUERY_BYTES = 40  # of its places in orders

_Picture = Callable[[int], Image.Image | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievedBlock:
    """One block of the browser.

    Attributes:
        name: label of the block.
        place: place among the blocks of the page, from 0.
        retrieved: what its losses retrieve.
        shown: queries that the page shows.
        sheets: thumbnails of the images they need.
        searched: what the most confused pairs are counted in: ``retrieved``, unless that has only
            the queries that trials stored with pictures.
        pairs: most confused pairs of classes.
        has_images: whether images were read from the data set, or are the few that trials stored.
    """

    name: str
    place: int
    retrieved: Retrieved
    shown: ShownQueries
    sheets: ImageSheets
    searched: Retrieved
    pairs: tuple[ConfusedPair, ...]
    has_images: bool


def retrieved_blocks(results: StudyResults) -> Iterator[RetrievedBlock]:
    """At most eight blocks, spread from the hardest to the easiest by mean test score.

    Of a block all test queries are looked through where its embeddings were kept and its images
    are at hand, and otherwise the few that trials stored with pictures.
    """
    names = spread_blocks(results, set(results.winners["block"]), _BLOCKS)
    most_products = _MOST_PRODUCTS / max(1, len(names) * len(results.losses))
    pictures = cache(lambda: stored_pictures(results, names))  # read only where they are needed
    found = [(name, _source(results, name, most_products, pictures)) for name in names]
    sources = {name: source for name, source in found if source is not None}
    fitted = _all_fitted(sources, beside=results.images_beside)
    for place, (name, source) in enumerate(sources.items()):
        shown, sheets = fitted[name]
        yield RetrievedBlock(
            name=name,
            place=place,
            retrieved=source.retrieved,
            shown=shown,
            sheets=sheets,
            searched=source.searched,
            pairs=source.pairs,
            has_images=source.has_images,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """What can be shown of a block; attributes as of `RetrievedBlock`."""

    retrieved: Retrieved
    picture: _Picture
    searched: Retrieved
    pairs: tuple[ConfusedPair, ...]
    has_images: bool


def _source(
    results: StudyResults,
    block: str,
    most_products: float,
    pictures: Callable[[], pl.DataFrame],
) -> _Source | None:
    """None where no query of the block has an image."""
    found = retrieved_by_embeddings(results, block, most_products=most_products)
    pairs = confused_pairs(found[0], _PAIRS) if found else ()
    if found:
        retrieved, stored = found
        picture = _picture_at_hand(results, block, stored.test_hash)
        if picture is not None:
            indices_N = stored.indices_N.tolist()
            return _Source(
                retrieved=retrieved,
                picture=lambda image: picture(indices_N[image]),
                searched=retrieved,
                pairs=pairs,
                has_images=True,
            )
    pictured = retrieved_by_pictures(results, pictures(), block)
    if pictured is None:
        return None
    few, pngs = pictured
    return _Source(
        retrieved=few,
        picture=lambda image: opened_png(pngs[image]),
        searched=found[0] if found else few,
        pairs=pairs,
        has_images=False,
    )


def _picture_at_hand(results: StudyResults, block: str, test_hash: str) -> _Picture | None:
    if results.images is None:
        return None
    (dataset,) = results.winners.filter(pl.col("block") == block)["dataset"].unique()
    return results.images(dataset, test_hash)


def _all_fitted(
    sources: Mapping[str, _Source], *, beside: bool
) -> dict[str, tuple[ShownQueries, ImageSheets]]:
    """What is shown of each block, those with few queries first: what they leave, others take."""
    fitted = {}
    room: float = MOST_BYTES
    for left, name in zip(
        range(len(sources), 0, -1),
        sorted(sources, key=lambda name: (len(sources[name].retrieved.queries_Q), name)),
        strict=True,
    ):
        shown, sheets, taken = _fitted(sources[name], room / left, beside=beside)
        fitted[name] = (shown, sheets)
        room -= taken
    return fitted


def _fitted(
    source: _Source, room: float, *, beside: bool
) -> tuple[ShownQueries, ImageSheets, float]:
    """As many queries as fit into so many bytes, their thumbnails, and the bytes they take.

    What a thumbnail takes is estimated by a few, and again by those chosen if they do not fit.
    """
    made: dict[int, Image.Image | None] = {}  # image -> its thumbnail
    of_query = _QUERY_BYTES + _NEIGHBOUR_BYTES * source.retrieved.neighbours_LQK[:, 0].size
    chosen = source.retrieved.queries_Q[:_TRIED].tolist()
    of_image = 0.0
    while True:
        sheets = _sheets(chosen, source.picture, made)
        if not beside:
            of_image = max(1.02 * of_image, _BASE64 * sheets.num_bytes / len(chosen))
        shown = shown_queries(
            source.retrieved,
            source.pairs,
            bytes_of_image=of_image,
            bytes_of_query=of_query,
            most_bytes=room,
        )
        chosen = list(shown.images)
        sheets = _sheets(chosen, source.picture, made)
        in_page = 0.0 if beside else _BASE64 * sheets.num_bytes
        taken = in_page + of_query * len(shown.queries)
        if taken <= room or len(shown.queries) == 1:
            return shown, sheets, taken


def _sheets(
    images: Sequence[int], picture: _Picture, made: dict[int, Image.Image | None]
) -> ImageSheets:
    for image in images:
        if image not in made:
            whole = picture(image)
            made[image] = None if whole is None else thumbnail(whole)
    return ImageSheets.of([made[image] for image in images])
