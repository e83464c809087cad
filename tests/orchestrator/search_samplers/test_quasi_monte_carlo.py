import numpy as np
from scipy.stats import qmc

from podium.orchestrator.search_samplers.quasi_monte_carlo import QmcSuggester
from podium.search_spaces.parameters import Real, Space
from tests.orchestrator.search_samplers.searching import (
    task_of,
)

SQUARE = Space({"x": Real(0.0, 1.0), "y": Real(0.0, 1.0)})


def points_of(num_points, num_first=1, seed=3):
    suggester = QmcSuggester(task_of(SQUARE, {}, seed=seed, first=[{}] * num_first))
    configs = [suggester.suggest(num_first + i) for i in range(num_points)]
    return np.array([[config["x"], config["y"]] for config in configs])


def test_suggestions_are_the_sobol_sequence_from_its_first_point():
    expected = qmc.Sobol(2, scramble=True, rng=np.random.default_rng(3)).random(8)
    for num_first in (1, 4):
        assert np.array_equal(points_of(8, num_first), expected)


def test_every_sixteenth_of_the_square_gets_one_of_sixteen_points():
    points = points_of(16)
    for columns, rows in ((16, 1), (1, 16), (4, 4), (2, 8), (8, 2)):
        cells = {(int(x * columns), int(y * rows)) for x, y in points}
        assert len(cells) == 16
