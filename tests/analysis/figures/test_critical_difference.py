"""The critical-difference diagram: every competitor by rank, every group, and its bar."""

import numpy as np
import polars as pl

from podium.analysis.figures.critical_difference import critical_difference_plot
from podium.analysis.tournament.tournament import hold_tournament
from tests.analysis import thesis_cub200


def diagram(ranks, groups=(), critical_difference=1.0):
    return critical_difference_plot(
        list(ranks.items()),
        groups,
        test="T",
        critical_difference=critical_difference,
        name="cd",
    )


def test_competitors_are_in_the_order_of_their_ranks_whatever_they_were_given_in():
    values = diagram({"b": 2.8, "a": 1.2, "c": 2.0}).values
    assert values["names"] == ["a", "c", "b"]
    assert values["ranks"] == [1.2, 2.0, 2.8]


def test_no_group_and_no_competitor_is_lost_with_many():
    names = [f"loss{c:02}" for c in range(46)]
    groups = [tuple(names[c : c + 3]) for c in range(30)]
    values = diagram({name: 1.0 + c for c, name in enumerate(names)}, groups).values
    assert values["names"] == names
    assert values["groups"] == [list(group) for group in groups]


def test_a_test_without_a_critical_difference_has_no_bar():
    found = diagram({"a": 1, "b": 2, "c": 3}, critical_difference=None)
    assert found.values["criticalDifference"] is None
    assert "CD" not in found.description


def test_the_description_names_ranks_groups_and_the_critical_difference():
    description = diagram({"a": 1, "b": 2, "c": 3}, [("b", "c")]).description
    assert "a 1.00, b 2.00, c 3.00" in description
    assert "CD 1.00." in description
    assert "Not significantly different by T: b and c." in description


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
