"""Images of tests: maps of their embeddings, and a browser of what is retrieved for queries.

N = all test images, M = images on a map, D = embedding dimension; Q = queries, L = losses,
K = neighbours.
"""

import base64
import io
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from PIL import Image

from podium.analysis.figures.plot import Plot
from podium.analysis.figures.scatter import Point, scatter_plot
from podium.analysis.figures.series import Series, series_of
from podium.analysis.page.html_page import Illustration, Paragraph, Section, fragment
from podium.analysis.report.shown_blocks import spread_blocks
from podium.analysis.study_results.kept_embeddings import kept_embeddings
from podium.analysis.study_results.retrieved_images import (
    Retrieved,
    query_orders,
    retrieved_by_embeddings,
    retrieved_by_pictures,
    stored_pictures,
)
from podium.analysis.study_results.study_results import PERCENT, StudyResults
from podium.analysis.wording import counted, number
from podium.kept_files.embeddings_file import EmbeddingsFile

CLASSES = 8
"""Largest number of classes on a map; as many as there are colours."""

IMAGES = 15
"""Largest number of images of a class."""

_FEWEST = 4  # images
_MOST_PANELS = 12

_OF_MAPS = (
    "Two principal components of the embeddings of the same test images under each loss. A map"
    " shows no more than the share of the variance that it names: classes that overlap on it may"
    " be apart in the other dimensions."
)

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
_OF_RETRIEVALS = (
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
    "Where a setting does not have all, they are the first of each order, taken in turn until the"
    " page is full. Any query can be shown where embeddings were kept and the data set is on the"
    " machine that makes the page; otherwise only those that trials stored with their images."
)


def embedding_maps(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """Maps of the winners and of the baselines; None if no embeddings were kept.

    The block is the middle one by mean test score of those with embeddings; of each loss the first
    seed and fold is shown. None for continuous labels too, which have no classes to mark.
    """
    del series  # colours are classes here
    if not results.is_by_class:
        return None
    for block in _mapped_blocks(results):
        kept = kept_embeddings(results, block, with_baseline=True)
        made = (
            _map_of(loss, stored, f"embedding-map-{position}")
            for position, (loss, stored) in enumerate(itertools.islice(kept, _MOST_PANELS))
        )
        if maps := [each for each in made if each is not None]:
            return Section(
                name="maps",
                title="Embedding maps",
                parts=(Paragraph(text=_OF_MAPS), _figure(block, maps)),
            )
    return None


def mapped_rows(labels_N: NDArray[np.int64], indices_N: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of the images to show, by class and then by their index in the data set.

    Of the classes with two images or more, `CLASSES` are chosen evenly in the order of their
    labels; of each class the first images in the data set. The choice is deterministic and does
    not depend on any result.

    Args:
        labels_N: labels of all test images.
        indices_N: indices of these images in the data set.
    """
    present, counts = np.unique(labels_N, return_counts=True)
    several = present[counts > 1]
    if not len(several):
        return np.empty(0, dtype=np.int64)
    chosen = several[np.unique(np.linspace(0, len(several) - 1, CLASSES).round().astype(int))]
    order_N = np.lexsort((indices_N, labels_N))
    rows = [order_N[labels_N[order_N] == label][:IMAGES] for label in chosen]
    return np.concatenate(rows)


def principal_components(points_MD: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Positions (M, 2) on the first two principal components, and their share of the variance.

    The farthest point of each component has a positive coordinate, so signs are fixed. The share
    is 1 where all points coincide.
    """
    centred_MD = points_MD - points_MD.mean(axis=0)
    left_MK, spreads_K, _ = np.linalg.svd(centred_MD, full_matrices=False)
    scaled_MK = np.pad(left_MK * spreads_K, ((0, 0), (0, 2)))  # of one dimension there is one
    positions_M2 = scaled_MK[:, :2]
    farthest_2 = np.abs(positions_M2).argmax(axis=0)
    positions_M2 = positions_M2 * np.where(positions_M2[farthest_2, [0, 1]] < 0, -1.0, 1.0)
    variance = float((spreads_K**2).sum())
    return positions_M2, float((spreads_K[:2] ** 2).sum()) / variance if variance else 1.0


def _mapped_blocks(results: StudyResults) -> list[str]:
    """Blocks with a tested winner, from the middle one by mean test score outwards."""
    tested = results.cells.filter(finalist="winner", k=results.k).drop_nulls("score")["block"]
    blocks = spread_blocks(results, set(tested), len(tested))
    middle = len(blocks) // 2
    return sorted(blocks, key=lambda block: (abs(blocks.index(block) - middle), block))


def _map_of(loss: str, stored: EmbeddingsFile, name: str) -> tuple[Plot, tuple[str, ...]] | None:
    """The map of one trial's test images and the class of each; None with fewer than four to show.

    It is moved and scaled without distortion.
    """
    rows_M = mapped_rows(stored.labels_N, stored.indices_N)
    if len(rows_M) < _FEWEST:
        return None
    points_MD = stored.embeddings_ND[rows_M].astype(np.float64)
    if stored.geometry == "cosine":
        lengths_M = np.linalg.norm(points_MD, axis=1)
        points_MD = points_MD / np.where(lengths_M > 0, lengths_M, 1.0)[:, None]
    positions_M2, share = principal_components(points_MD)
    names = tuple(stored.class_names[label] for label in stored.labels_N[rows_M].tolist())
    low_2, high_2 = positions_M2.min(axis=0), positions_M2.max(axis=0)
    size = float((high_2 - low_2).max()) or 1.0
    moved_M2 = ((positions_M2 - (low_2 + high_2) / 2) / size + 0.5).round(3)
    plot = scatter_plot(
        [
            Point(name=of_class, x=x, y=y)
            for (x, y), of_class in zip(moved_M2.tolist(), names, strict=True)
        ],
        None,
        name=name,
        label=f"{loss}, {number(PERCENT * share, 0)} % of the variance",
        title=f"Map of the embeddings of {loss}",
        looks=series_of(sorted(set(names))),
    )
    return plot, names


def _figure(block: str, maps: list[tuple[Plot, tuple[str, ...]]]) -> Illustration:
    shown = maps[0][1]
    names = sorted(set(shown))
    looks = series_of(names)
    images = counted(len(shown), "test image")
    return Illustration(
        name="embedding-maps",
        plots=tuple(plot for plot, _ in maps),
        caption=f"{block}: {images} of {counted(len(names), 'class', 'classes')}, the same in"
        f" every map; first seed of each tuned loss. Classes (at most {CLASSES}) are spread evenly"
        f" over the sorted test classes, images (at most {IMAGES}) are the first of each: they"
        " do not depend on any outcome. Colours and markers denote classes here, not losses.",
        legend=tuple(looks[name] for name in names),
    )


_Picture = Callable[[int], Image.Image | None]


# Label of a block, what its losses retrieve, and a reader of an image by its index there.
_Block = tuple[str, Retrieved, _Picture]


def retrievals(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section: at most eight blocks, from the hardest to the easiest by mean test score.

    Of a block all test queries are looked through where its embeddings were kept and its images
    are at hand, and otherwise the few that trials stored with pictures.
    """
    blocks = list(_blocks(results))
    if not blocks:
        return None
    records = _records(blocks, series)
    shown = sum(len(record["queries"]) for record in records)
    every = sum(retrieved.num_queries for _, retrieved, _ in blocks)
    legend = _BY_CLASS if results.is_by_class else _BY_DISTANCE
    return Section(
        name="images",
        title="Retrieved images",
        parts=(
            Paragraph(text=f"{_OF_RETRIEVALS} {legend}"),
            fragment(
                "retrieval.html.j2",
                blocks=[
                    f"{name} ({len(record['queries']):,} of {retrieved.num_queries:,} queries)"
                    for (name, retrieved, _), record in zip(blocks, records, strict=True)
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
            yield name, found[0], partial(_at_index, picture, indices_N)
        elif few := retrieved_by_pictures(results, pictures(), name):
            retrieved, pngs = few
            yield name, retrieved, partial(_stored_png, pngs)


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
    in_turn = sorted(blocks, key=lambda block: (len(block[1].queries_Q), block[0]))
    for left, block in zip(range(len(blocks), 0, -1), in_turn, strict=True):
        records[block[0]], taken = _record(block, series, room / left)
        room -= taken
    return [records[name] for name, *_ in blocks]


def _record(
    block: _Block, series: Mapping[str, Series], room: float
) -> tuple[dict[str, Any], float]:
    """As many queries as there is room for, at least one, and the bytes they take.

    They are taken in turn from each order. Images are places in a list of class and thumbnail.
    """
    name, retrieved, picture = block
    orders = {key: order.tolist() for key, order in query_orders(retrieved).items()}
    chosen: dict[int, None] = {}
    images: dict[int, str] = {}
    taken = 0.0
    for query in itertools.chain.from_iterable(itertools.zip_longest(*orders.values())):
        if query is None or query in chosen:
            continue
        of_query = [int(retrieved.queries_Q[query])]
        of_query += retrieved.neighbours_LQK[:, query].ravel().tolist()
        more = {it: thumbnail(picture(it)) for it in of_query if it not in images}
        size = sum(map(len, more.values())) + _NEIGHBOUR_BYTES * len(of_query)
        if chosen and taken + size > room:
            break
        taken += size
        images |= more
        chosen[query] = None
    queries = sorted(chosen)
    places = {image: place for place, image in enumerate(images)}
    labels = retrieved.labels_N[list(images)].tolist()
    classes = sorted({retrieved.class_names[label] for label in labels})
    numbers = {of_class: number for number, of_class in enumerate(classes)}
    num_rows = len(retrieved.losses)
    record = {
        "name": name,
        "losses": [[loss, series[loss].key] for loss in retrieved.losses],
        "byClass": retrieved.is_by_class,
        "classes": classes,
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
            key: [queries.index(it) for it in itertools.takewhile(chosen.__contains__, order)]
            for key, order in orders.items()
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
