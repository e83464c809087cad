"""Retrieved images: a browser of queries and of what each loss retrieves for them."""

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.figures.series import Series
from analysis.page.html_page import (
    Cell,
    Column,
    Fold,
    Paragraph,
    Section,
    Table,
    fragment,
)
from analysis.report.image_sheets import Sheet
from analysis.report.retrieved_blocks import RetrievedBlock, retrieved_blocks
from analysis.study_results.retrieved_images import ConfusedPair
from analysis.study_results.study_results import StudyResults
from analysis.wording import counted

_FOLDER = "report-images"  # beside the page
_QUERIES_A_PAGE = 4
_ROWS_A_PAGE = 24
_LONG_PREFIX = 4
_COARSE_PIXELS = 64  # smaller cells are shown enlarged, so that their pixels are visible
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


def retrievals(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """The section: the browser, and the most confused pairs of classes of each block."""
    blocks = tuple(retrieved_blocks(results))
    if not blocks:
        parts = (Paragraph(text="No images were stored."),)
        return Section(name="images", title="Retrieved images", parts=parts)
    legend = _BY_CLASS if results.is_by_class else _BY_DISTANCE
    sheets = {
        _sheet_id(block, number): sheet
        for block in blocks
        for number, sheet in enumerate(block.sheets.sheets)
    }
    files = {_file_of(sheet): sheet.content for sheet in sheets.values()}
    return Section(
        name="images",
        title="Retrieved images",
        parts=(
            Paragraph(text=f"{_INTRODUCTION} {legend}"),
            fragment(
                "retrieval.html.j2",
                blocks=[f"{block.name} ({_counts([block])})" for block in blocks],
                first_block=blocks[0].name,
                orders=[(name, _ORDERS[name]) for name in blocks[0].shown.orders],
                is_by_class=results.is_by_class,
                sheets=[
                    (name, sheet, _file_of(sheet) if results.images_beside else sheet.data_uri)
                    for name, sheet in sheets.items()
                ],
                cards=_first_cards(blocks[0], series),
                blank=_BLANK,
                data=[_record(block, series) for block in blocks],
            ),
            Paragraph(text=_how_many(blocks), style="note"),
            *(_confused(block, series) for block in blocks if block.pairs),
        ),
        files=files if results.images_beside else {},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tile:
    """One image.

    Attributes:
        sheet: id of its sheet.
        box: its cell on the sheet, as a view box.
        kind: ``query``, ``hit``, ``miss``, or ``found`` where none is right or wrong.
        alt: what it is, in words.
        mark: similarity, after the sign for right or wrong.
        class_name: name of its class.
        label: the same without what all classes begin with.
        is_coarse: whether it is shown enlarged.
    """

    sheet: str
    box: str
    kind: str
    alt: str
    mark: str
    class_name: str
    label: str
    is_coarse: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """What one loss retrieves for a query.

    Attributes:
        loss: name of the loss.
        key: id of its marker.
        right: how many of it are right, in words.
        tiles: nearest images, best first.
    """

    loss: str
    key: str
    right: str
    tiles: tuple[_Tile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Card:
    """One query and a row for each loss."""

    query: _Tile
    rows: tuple[_Row, ...]


_NO_TILE = _Tile(
    sheet="", box="0 0 1 1", kind="", alt="", mark="", class_name="", label="", is_coarse=False
)
_BLANK = _Card(query=_NO_TILE, rows=(_Row(loss="", key="", right="", tiles=(_NO_TILE,)),))


def _first_cards(block: RetrievedBlock, series: Mapping[str, Series]) -> list[_Card]:
    """What is shown before a script runs: the first page of queries sampled over classes."""
    return [_card(block, it, series) for it in block.shown.orders["sampled"][: _page_size(block)]]


def _card(block: RetrievedBlock, place: int, series: Mapping[str, Series]) -> _Card:
    """As ``cardOf`` of retrieval.js makes it."""
    retrieved, query = block.retrieved, block.shown.queries[place]
    own = int(retrieved.queries_Q[query])
    rows = []
    for number, loss in enumerate(retrieved.losses):
        images = retrieved.neighbours_LQK[number, query].tolist()
        similarities = retrieved.similarities_LQK[number, query].tolist()
        tiles = tuple(
            _tile(block, image, own, similarity)
            for image, similarity in zip(images, similarities, strict=True)
        )
        num_right = sum(tile.kind == "hit" for tile in tiles)
        right = f"{num_right} of {len(tiles)} right" if retrieved.is_by_class else ""
        rows.append(_Row(loss=loss, key=series[loss].key, right=right, tiles=tiles))
    return _Card(query=_tile(block, own, own, None), rows=tuple(rows))


def _tile(block: RetrievedBlock, image: int, own: int, similarity: float | None) -> _Tile:
    """The tile of a query's own image, without a similarity, or of a neighbour of it."""
    retrieved = block.retrieved
    label = int(retrieved.labels_N[image])
    name = retrieved.class_names[label]
    if similarity is None:
        kind, alt, sign = "query", f"query: {name}", ""
    elif not retrieved.is_by_class:
        kind, alt, sign = "found", name, ""
    elif label == retrieved.labels_N[own]:
        kind, alt, sign = "hit", f"right: {name}", "✓ "
    else:
        kind, alt, sign = "miss", f"wrong: {name}", "✗ "
    sheet, left, upper = block.sheets.cell_of(block.shown.images.index(image))
    cell, prefix = block.sheets.cell, _prefix(_names_shown(block))
    return _Tile(
        sheet=_sheet_id(block, sheet),
        box=f"{left} {upper} {cell} {cell}",
        kind=kind,
        alt=alt,
        mark="" if similarity is None else f"{sign}{similarity:.2f}",
        class_name=name,
        label=f"…{name.removeprefix(prefix)}" if prefix and similarity is not None else name,
        is_coarse=cell < _COARSE_PIXELS,
    )


def _record(block: RetrievedBlock, series: Mapping[str, Series]) -> dict[str, Any]:
    """What the script needs of a block; images are places on its sheets, 256 on each."""
    retrieved, shown = block.retrieved, block.shown
    places = {image: place for place, image in enumerate(shown.images)}
    names = _names_shown(block)
    numbers = {name: number for number, name in enumerate(names)}
    labels = retrieved.labels_N[list(shown.images)].tolist()
    return {
        "name": block.name,
        "losses": [[loss, series[loss].key] for loss in retrieved.losses],
        "byClass": retrieved.is_by_class,
        "classes": names,
        "prefix": len(_prefix(names)),
        "images": [numbers[retrieved.class_names[label]] for label in labels],
        "cell": block.sheets.cell,
        "isCoarse": block.sheets.cell < _COARSE_PIXELS,
        "pageSize": _page_size(block),
        "queries": [places[int(retrieved.queries_Q[query])] for query in shown.queries],
        "neighbours": [
            [[places[it] for it in row] for row in retrieved.neighbours_LQK[:, query].tolist()]
            for query in shown.queries
        ],
        "similarities": [
            (_HUNDREDTHS * retrieved.similarities_LQK[:, query]).round().astype(int).tolist()
            for query in shown.queries
        ],
        "orders": shown.orders,
        "pairs": [[it.class_name, it.nearest] for it in block.pairs],
    }


def _page_size(block: RetrievedBlock) -> int:
    """Queries shown at once: fewer where many losses have a row each."""
    return max(1, min(_QUERIES_A_PAGE, _ROWS_A_PAGE // len(block.retrieved.losses)))


def _sheet_id(block: RetrievedBlock, number: int) -> str:
    return f"sheet-{block.place}-{number}"


def _file_of(sheet: Sheet) -> str:
    return f"{_FOLDER}/{hashlib.sha256(sheet.content).hexdigest()[:16]}.webp"


def _names_shown(block: RetrievedBlock) -> list[str]:
    labels = set(block.retrieved.labels_N[list(block.shown.images)].tolist())
    return sorted(block.retrieved.class_names[label] for label in labels)


def _prefix(names: Sequence[str]) -> str:
    """What all names begin with, such as the ``id_0000`` of In-Shop; "" if it is short."""
    first, last = min(names), max(names)  # what these share, all between them share
    pairs = zip(first, last, strict=False)
    length = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    return first[:length] if length >= _LONG_PREFIX and len(names) > 1 else ""


def _counts(blocks: Sequence[RetrievedBlock]) -> str:
    shown = sum(len(block.shown.queries) for block in blocks)
    return f"{shown:,} of {sum(block.searched.num_queries for block in blocks):,} queries"


def _how_many(blocks: Sequence[RetrievedBlock]) -> str:
    """How many queries are shown of how many, and which."""
    text = f"The page has {_counts(blocks)} of the test."
    if all(block.has_images for block in blocks):
        return (
            f"{text} Where a block does not have all, they are the first of each order, taken in"
            " turn until the images and lists of the page are full. Images are those of the data"
            " sets on the machine that made the page, whose tests have the hash that the results"
            " have."
        )
    return (
        f"{text} Where embeddings were kept and the data set is on the machine that makes the"
        " page, any query can be shown; otherwise only those that trials stored with their images."
    )


def _confused(block: RetrievedBlock, series: Mapping[str, Series]) -> Fold:
    """The most confused pairs of classes, over all queries that were searched."""
    losses, num_queries = block.searched.losses, block.searched.num_queries
    num_searched = len(block.searched.queries_Q)
    searched = "all " if num_searched == num_queries else f"{num_searched:,} of "
    return Fold(
        summary=f"Most confused classes: {block.name}",
        parts=(
            Table(
                name=f"confused-{block.place}",
                caption=f"{block.name}: queries of one class whose nearest image is of another, in"
                f" % of the queries of that class; {searched}"
                f"{counted(num_queries, 'query', 'queries')} searched.",
                columns=(*Column.texts("Query → nearest image"), *Column.named(losses, series)),
                rows=tuple(_pair_row(pair) for pair in block.pairs),
                is_sortable=True,
            ),
        ),
    )


def _pair_row(pair: ConfusedPair) -> tuple[Cell, ...]:
    shares = (
        Cell.share(count / pair.queries, 1, detail=f"{count} of {pair.queries}")
        for count in pair.counts
    )
    return (Cell.word(f"{pair.class_name} → {pair.nearest}"), *shares)
