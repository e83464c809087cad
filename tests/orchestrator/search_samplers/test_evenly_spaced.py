import pytest

from orchestrator.search_samplers.evenly_spaced import spaced_values
from search_spaces.parameters import Choice, Int, Real


@pytest.mark.parametrize(
    ("tried", "num_points", "expected"),
    [
        (Real(0.0, 1.0), 3, (0.0, 0.5, 1.0)),
        (Real(1.0, 100.0, log=True), 3, (1.0, 10.0, 100.0)),
        (Real(2.0, 100.0, step=2.0), 3, (2.0, 50.0, 100.0)),
        (Real(0.0, 1.0), 1, (0.5,)),
        (Int(1, 3), 9, (1, 2, 3)),
        (Int(1, 100, log=True), 3, (1, 10, 100)),
        (Choice(("a", "b", "c")), 1, ("a", "b", "c")),
    ],
)
def test_values_are_the_ends_and_what_lies_evenly_between(tried, num_points, expected):
    assert spaced_values(tried, num_points) == expected


def test_the_thesis_sweep_of_multi_similarity_has_its_122_points():
    tenths, evens = Real(0.0, 1.0, step=0.1), Real(2.0, 100.0, step=2.0)
    ranges = {"margin": tenths, "alpha": evens, "beta": evens, "epsilon": tenths}
    points = [spaced_values(tried, 1000) for tried in ranges.values()]
    assert sum(map(len, points)) == 122
    assert points[0][3] == 0.3
