"""Maps of the embeddings of the same few test images under each loss, in one block.

N = all test images, M = images on a map, D = embedding dimension.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.figures.axis import Axis
from analysis.figures.plot import Plot
from analysis.figures.scatter import Point, scatter_plot
from analysis.figures.series import Series, series_of
from analysis.page.html_page import Cell, Column, Illustration, Paragraph, Section, Table
from analysis.study_results.kept_embeddings import kept_embeddings
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.wording import MISSING, counted, number
from podium.kept_files.embeddings_file import EmbeddingsFile

CLASSES = 8
"""Largest number of classes on a map; as many as there are colours."""

IMAGES = 15
"""Largest number of images of a class."""

_FEWEST = 4  # images
_MOST_PANELS = 12
_MARGIN = 0.06  # of the size of a map

_INTRODUCTION = (
    "Two principal components of the embeddings of the same test images under each loss. A map"
    " shows no more than the share of the variance that it names: classes that overlap on it may"
    " be apart in the other dimensions."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Panel:
    """The map of one loss, without the embeddings: those of a large data set are 100 MB.

    Attributes:
        loss: name of the loss.
        positions_M2: principal components of the images shown.
        share: share of their variance on the map.
        names: class of each image.
        score: score of the run on all test images; None if it was not stored.
    """

    loss: str
    positions_M2: NDArray[np.float64]
    share: float
    names: tuple[str, ...]
    score: float | None


def embedding_maps(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """Maps of the winners and of the untrained network; None if no embeddings were kept.

    The block is the middle one by mean test score of those with embeddings; of each loss the first
    seed and fold is shown. None for continuous labels too, which have no classes to mark.
    """
    if not results.is_by_class:
        return None
    for block in _blocks(results):
        kept = kept_embeddings(results, block, with_baseline=True)
        made = (_panel(results, *it) for it in itertools.islice(kept, _MOST_PANELS))
        if panels := [panel for panel in made if panel is not None]:
            return Section(
                name="maps",
                title="Embedding maps",
                parts=(Paragraph(text=_INTRODUCTION), _figure(block, panels, results, series)),
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


def _blocks(results: StudyResults) -> list[str]:
    """Blocks with a tested winner, from the middle one by mean test score outwards."""
    is_shown = (pl.col("finalist") == "winner") & (pl.col("k") == results.k)
    levels = (
        results.cells.filter(is_shown, pl.col("score").is_not_null())
        .group_by("block")
        .agg(pl.col("score").sort().mean())
        .sort("score", "block")
    )
    blocks: list[str] = levels["block"].to_list()
    middle = len(blocks) // 2
    return sorted(blocks, key=lambda block: (abs(blocks.index(block) - middle), block))


def _panel(results: StudyResults, loss: str, stored: EmbeddingsFile) -> _Panel | None:
    """The map of one trial's test images; None with fewer than four to show."""
    rows_M = mapped_rows(stored.labels_N, stored.indices_N)
    if len(rows_M) < _FEWEST:
        return None
    points_MD = stored.embeddings_ND[rows_M].astype(np.float64)
    if stored.by_direction:
        lengths_M = np.linalg.norm(points_MD, axis=1)
        points_MD = points_MD / np.where(lengths_M > 0, lengths_M, 1.0)[:, None]
    positions_M2, share = principal_components(points_MD)
    names = tuple(stored.class_names[label] for label in stored.labels_N[rows_M].tolist())
    return _Panel(
        loss=loss,
        positions_M2=positions_M2,
        share=share,
        names=names,
        score=stored.score(results.objective, results.k),
    )


def _figure(
    block: str, panels: list[_Panel], results: StudyResults, series: Mapping[str, Series]
) -> Illustration:
    names = sorted(set(panels[0].names))
    looks = series_of(names)
    images = counted(len(panels[0].names), "test image")
    return Illustration(
        name="embedding-maps",
        plots=tuple(
            _plot(panel, looks, f"embedding-map-{position}")
            for position, panel in enumerate(panels)
        ),
        caption=f"{block}: {images} of {counted(len(names), 'class', 'classes')}, the same in"
        f" every map; first seed of each tuned loss. Classes (at most {CLASSES}) are spread evenly"
        f" over the sorted test classes, images (at most {IMAGES}) are the first of each: they"
        " do not depend on any outcome. Colours and markers denote classes here, not losses.",
        legend=tuple(looks[name] for name in names),
        table=Table(
            name="embedding-maps-table",
            caption=f"{block}: {results.metric} of the runs whose embeddings are shown, on all"
            " test images, and the share of the variance of the images shown, in %",
            columns=(*Column.texts("Loss"), *Column.numbers("All test images", "On the map")),
            rows=tuple(
                (
                    Cell.named(panel.loss, series),
                    *map(_percent, (panel.score, panel.share)),
                )
                for panel in panels
            ),
            is_sortable=True,
        ),
    )


def _percent(value: float | None) -> Cell:
    return Cell(text=MISSING) if value is None else Cell.number(PERCENT * value)


def _plot(panel: _Panel, looks: Mapping[str, Series], name: str) -> Plot:
    """The map of one loss, moved and scaled without distortion."""
    low_2, high_2 = panel.positions_M2.min(axis=0), panel.positions_M2.max(axis=0)
    size = float((high_2 - low_2).max()) or 1.0
    moved_M2 = ((panel.positions_M2 - (low_2 + high_2) / 2) / size + 0.5).round(3)
    axis = Axis(label="", limits=(-_MARGIN, 1 + _MARGIN))
    share = f"{number(PERCENT * panel.share, 0)} % of the variance"
    return scatter_plot(
        [
            Point(name=of_class, x=x, y=y)
            for (x, y), of_class in zip(moved_M2.tolist(), panel.names, strict=True)
        ],
        x=axis,
        y=axis,
        name=name,
        label=f"{panel.loss}, {share}",
        title=f"Map of the embeddings of {panel.loss}",
        description=f"{len(moved_M2)} test images of {len(looks)} classes on two principal"
        f" components, which have {share}.",
        is_map=True,
        looks=looks,
    )
