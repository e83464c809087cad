"""Maps of ranks and of cells, and the diagram of many competitors: what they show."""

import xml.etree.ElementTree as ET
from collections import Counter

import numpy as np
import polars as pl
import pytest

from analysis.estimates.ranks import average_ranks
from analysis.figures.cell_map import draw_cell_map
from analysis.figures.critical_difference import Cliques, draw_critical_difference
from analysis.figures.rank_heatmap import draw_rank_heatmap
from analysis.figures.series import series_of
from analysis.scores.cell_states import CellState
from analysis.tournament.tournament import hold_tournament
from tests.analysis import thesis_cub200
from tests.analysis.page_text import svg_texts


def heatmap(ranks_BC):
    num_blocks, num_competitors = ranks_BC.shape
    return draw_rank_heatmap(
        [f"data/net/{b}" for b in range(num_blocks)],
        [f"loss{c}" for c in range(num_competitors)],
        ranks_BC,
        name="map",
    )


def ranks_of_random_scores(num_blocks, num_competitors):
    scores = np.random.default_rng(0).integers(0, 9, size=(num_blocks, num_competitors))
    return average_ranks(scores.astype(float))


def styled(element, inherited=()):
    """Each element below with its style, what it inherits included."""
    own = [part.split(":") for part in element.get("style", "").split(";") if part]
    style = {**dict(inherited), **{key.strip(): value.strip() for key, value in own}}
    yield element, style
    for child in element:
        yield from styled(child, style)


def cells_by_colour(svg):
    """How many squares each colour has."""
    counts = Counter()
    for element, style in styled(ET.fromstring(svg)):
        if element.tag == "path" and style.get("fill", "").startswith("#"):
            counts[style["fill"]] += element.get("d").count("M")
    return counts


def test_every_rank_is_written_in_its_cell():
    ranks_BC = ranks_of_random_scores(8, 3)
    written = Counter(svg_texts(heatmap(ranks_BC)))
    for rank, count in Counter(f"{rank:g}" for rank in ranks_BC.ravel()).items():
        assert written[rank] == count


def test_rows_and_columns_are_named():
    shown = set(svg_texts(heatmap(ranks_of_random_scores(4, 3))))
    assert {"data/net/0", "data/net/3", "loss0", "loss2"} <= shown


def test_cells_of_one_rank_have_one_colour_from_bright_to_dark():
    ranks_BC = np.array([[1.0, 2.0, 3.0], [1.0, 2.5, 2.5]])
    # The two ends of cividis, and what lies between.
    assert sorted(cells_by_colour(heatmap(ranks_BC)).values()) == [1, 1, 2, 2]
    assert cells_by_colour(heatmap(ranks_BC))["#fee838"] == 2
    assert cells_by_colour(heatmap(ranks_BC))["#00224e"] == 1


@pytest.mark.parametrize(("num_blocks", "num_competitors"), [(28, 10), (28, 46), (1, 2)])
def test_a_large_map_has_few_marks_and_bytes(num_blocks, num_competitors):
    svg = heatmap(ranks_of_random_scores(num_blocks, num_competitors))
    counts = cells_by_colour(svg)
    assert sum(counts.values()) == num_blocks * num_competitors
    assert len(counts) <= 2 * num_competitors
    assert len(svg) < 120_000


def test_numbers_are_left_out_where_columns_are_too_many():
    assert "7" not in svg_texts(heatmap(np.tile(np.arange(1.0, 26), (2, 1))))
    assert "7" in svg_texts(heatmap(np.tile(np.arange(1.0, 25), (2, 1))))


def test_equal_ranks_give_equal_bytes():
    assert heatmap(ranks_of_random_scores(5, 4)) == heatmap(ranks_of_random_scores(5, 4))


def cell_map(states):
    blocks = list(dict.fromkeys(block for block, _ in states))
    losses = list(dict.fromkeys(loss for _, loss in states))
    return draw_cell_map(blocks, losses, states, name="cells")


ALL_STATES = {("p", state.name.lower()): state for state in CellState}


def test_each_state_has_a_symbol_of_its_own_without_colour():
    root = ET.fromstring(cell_map(ALL_STATES))
    shapes = [path.get("d") for path in root.iter("path") if path.get("id")]
    assert len(set(shapes)) == len(shapes) == len(CellState) + 1  # two halves of one


def test_the_legend_counts_what_is_there_and_nothing_else():
    shown = svg_texts(
        cell_map(
            {
                ("p", "a"): CellState.TESTED,
                ("p", "b"): CellState.FAILED,
                ("q", "a"): CellState.TESTED,
                ("q", "b"): CellState.NOT_RUN,
            }
        )
    )
    assert {"tested (2)", "failed (1)", "not run (1)"} <= set(shown)
    assert not any("pruned" in text for text in shown)


def test_the_map_marks_every_cell_once():
    states = {(f"p{b}", f"l{c}"): CellState.TESTED for b in range(7) for c in range(5)}
    uses = list(ET.fromstring(cell_map(states)).iter("use"))
    # And once in the legend.
    marks = [use for use in uses if use.get("x")]
    assert len(marks) >= 7 * 5 + 1
    positions = {(use.get("x"), use.get("y")) for use in marks}
    assert len(positions) >= 7 * 5 + 1


def test_the_description_of_the_map_counts_states():
    root = ET.fromstring(cell_map(ALL_STATES))
    assert root.findtext("title") == "State of each block and competitor"
    assert "1 pruned away" in root.findtext("desc")


def groups_of(seed):
    scores = np.random.default_rng(seed).normal(size=(9, 8)) + np.arange(8) / 2
    rows = [
        {"block": str(b), "loss": f"l{c}", "recall": float(scores[b, c])}
        for b, c in np.ndindex(*scores.shape)
    ]
    return hold_tournament(pl.DataFrame(rows), by=["block"], competitor="loss", score="recall")


def skips(group, names):
    places = [names.index(name) for name in group]
    return places[-1] - places[0] + 1 > len(places)


def test_only_groups_of_nemenyi_never_skip_a_competitor():
    thesis = thesis_cub200.independent()
    held = [thesis, *(groups_of(seed) for seed in range(12))]
    assert not any(skips(g, one.names) for one in held for g in one.nemenyi_groups)
    # SoftTriple differs from Margin, not from ArcFace behind it.
    assert skips(thesis.groups[0], thesis.names)
    assert "Margin" not in thesis.groups[0]


def diagram_of(num_competitors, groups):
    names = [f"loss{c:02}" for c in range(num_competitors)]
    looks = series_of(names)
    return draw_critical_difference(
        [(looks[name], 1.0 + c) for c, name in enumerate(names)],
        critical_difference=9.5,
        cliques=[Cliques(test="T", groups=groups(names))],
        name="cd",
    )


def test_the_axis_of_many_competitors_numbers_some_ranks_only():
    svg = diagram_of(46, lambda names: [tuple(names[:5])])
    numbers = [int(text) for text in svg_texts(svg) if text.isdigit()]
    assert numbers[0] == 1
    assert 8 <= len(numbers) <= 20
    assert sum(text.endswith("loss45") for text in svg_texts(svg)) == 1


def test_few_competitors_have_every_rank_numbered():
    numbers = [text for text in svg_texts(diagram_of(10, lambda names: [])) if text.isdigit()]
    assert numbers == [str(rank) for rank in range(1, 11)]


def test_groups_beyond_twelve_are_counted():
    svg = diagram_of(46, lambda names: [tuple(names[c : c + 3]) for c in range(30)])
    assert "18 more groups of T" in svg_texts(svg)
