"""Maps of the embeddings of the same few test images under each loss, in one block."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from analysis.figures.axis import Axis
from analysis.figures.plot import Plot
from analysis.figures.scatter import Point, scatter_plot
from analysis.figures.series import Series, series_of
from analysis.page.html_page import Cell, Column, Illustration, Paragraph, Section, Table
from analysis.study_results.embedding_map import CLASSES, IMAGES, ImageMap, map_images
from analysis.study_results.kept_embeddings import kept_embeddings
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.wording import MISSING, counted, number

_MOST_PANELS = 12
_MARGIN = 0.06  # of the size of a map

_INTRODUCTION = (
    "t-SNE of the same test images under each loss, started from principal components. Near images"
    " stay near; distances between groups and their sizes mean nothing. Above each map: the"
    " share of images whose nearest image is of their class; where embedding and map differ, the"
    " map misleads."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Panel:
    """The map of one loss, without the embeddings: those of a large data set are 100 MB.

    Attributes:
        loss: name of the loss.
        shown: map of the images shown.
        class_names: names of all test classes.
        of_all: score on all test images in percent; None if it was not stored.
    """

    loss: str
    shown: ImageMap
    class_names: tuple[str, ...]
    of_all: float | None


def embedding_maps(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """Maps of the winners and of the untrained network; None if no embeddings were kept.

    The block is the middle one by mean test score of those with embeddings; of each loss the first
    seed and fold is shown. None for continuous labels too, which have no classes to mark.
    """
    if not results.is_by_class:
        return None
    for block in _blocks(results):
        panels = _panels(results, block)
        if panels:
            return Section(
                name="maps",
                title="Embedding maps",
                parts=(Paragraph(text=_INTRODUCTION), _figure(block, panels, results, series)),
            )
    return None


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


def _panels(results: StudyResults, block: str) -> list[_Panel]:
    """A panel for each loss with embeddings, the untrained network last.

    Raises:
        PodiumError: losses kept embeddings of different test images.
    """
    panels = []
    kept = kept_embeddings(results, block, with_baseline=True)
    for loss, stored in itertools.islice(kept, _MOST_PANELS):
        shown = map_images(stored)
        if shown is None:
            continue
        score = stored.scores.get((results.objective, results.k))
        panels.append(
            _Panel(
                loss=loss,
                shown=shown,
                class_names=stored.class_names,
                of_all=None if score is None else PERCENT * score,
            )
        )
    return panels


def _figure(
    block: str, panels: list[_Panel], results: StudyResults, series: Mapping[str, Series]
) -> Illustration:
    first = panels[0]
    names = {label: first.class_names[label] for label in first.shown.classes_M.tolist()}
    looks = series_of(list(names.values()))
    images = counted(len(first.shown.classes_M), "test image")
    return Illustration(
        name="embedding-maps",
        plots=tuple(
            _plot(panel, names, looks, f"embedding-map-{position}")
            for position, panel in enumerate(panels)
        ),
        caption=f"{block}: {images} of {counted(len(names), 'class', 'classes')}, the same in"
        f" every map; first seed of each tuned loss. Classes (at most {CLASSES}) are spread evenly"
        f" over the sorted test classes, images (at most {IMAGES}) are the first of each: they"
        " do not depend on any outcome. Colours and markers denote classes here, not losses.",
        legend=tuple(looks[name] for name in sorted(names.values())),
        table=_table(block, panels, results, series),
    )


def _plot(panel: _Panel, names: Mapping[int, str], looks: Mapping[str, Series], name: str) -> Plot:
    """The map of one loss, moved and scaled without distortion."""
    positions_M2 = panel.shown.positions_M2
    low_2, high_2 = positions_M2.min(axis=0), positions_M2.max(axis=0)
    size = float((high_2 - low_2).max()) or 1.0
    moved_M2 = ((positions_M2 - (low_2 + high_2) / 2) / size + 0.5).round(3)  # a third of a pixel
    axis = Axis(label="", limits=(-_MARGIN, 1 + _MARGIN))
    nearest = (
        f"nearest of its class: {number(PERCENT * panel.shown.nearest, 0)} %, on the map"
        f" {number(PERCENT * panel.shown.nearest_on_map, 0)} %"
    )
    return scatter_plot(
        [
            Point(name=names[label], x=x, y=y)
            for (x, y), label in zip(
                moved_M2.tolist(), panel.shown.classes_M.tolist(), strict=True
            )
        ],
        x=axis,
        y=axis,
        name=name,
        label=f"{panel.loss}, {nearest}",
        title=f"Map of the embeddings of {panel.loss}",
        description=f"{len(moved_M2)} test images of {len(looks)} classes on a map that keeps near"
        f" neighbours together; {nearest}.",
        is_map=True,
        looks=looks,
    )


def _table(
    block: str, panels: list[_Panel], results: StudyResults, series: Mapping[str, Series]
) -> Table:
    return Table(
        name="embedding-maps-table",
        caption=f"{block}: {results.metric} of the runs whose embeddings are shown, in %",
        columns=(
            *Column.texts("Loss"),
            *Column.numbers(
                "All test images", "Images shown, among each other", "The same on the map"
            ),
        ),
        rows=tuple(
            (
                Cell.named(panel.loss, series),
                *(
                    Cell(text=MISSING if value is None else number(value), order=value)
                    for value in (
                        panel.of_all,
                        PERCENT * panel.shown.nearest,
                        PERCENT * panel.shown.nearest_on_map,
                    )
                ),
            )
            for panel in panels
        ),
        note="Shown images are searched among each other only, always by their nearest one, so"
        " they are found more easily than among all test images.",
        is_sortable=True,
    )
