"""The critical-difference diagram: every competitor by rank, every group, and its bar."""

from podium.analysis.figures.critical_difference import critical_difference_plot


def diagram(ranks, groups=()):
    return critical_difference_plot(
        list(ranks.items()), groups, critical_difference=1.0, name="cd"
    )


def test_no_group_and_no_competitor_is_lost_with_many():
    names = [f"loss{c:02}" for c in range(46)]
    groups = [tuple(names[c : c + 3]) for c in range(30)]
    values = diagram({name: 1.0 + c for c, name in enumerate(names)}, groups).values
    assert values["names"] == names
    assert values["groups"] == [list(group) for group in groups]


def test_the_title_names_ranks_groups_and_the_critical_difference():
    title = diagram({"a": 1, "b": 2, "c": 3}, [("b", "c")]).title
    assert "a 1.00, b 2.00, c 3.00" in title
    assert "CD 1.00." in title
    assert "Not significantly different by Nemenyi: b and c." in title
