"""How close each sampler comes to a planted optimum, and what a suggestion costs.

    python -m benchmarks.samplers [--trials 25] [--seeds 40] [--workers 4]

Surfaces over the unit cube, the optimum drawn anew for each seed: a round bowl in two and in four
dimensions, and a valley in two that lies across both of them, which no hyperparameter alone shows.
Scores carry normal noise of a hundredth, as validation scores do. Several trials are open at a
time and end in random order. What is printed is the mean distance, in the surface's own measure,
of the config that the search would pick, its standard error, and milliseconds per suggestion.
"""

import argparse
import math
import random
import statistics
import time
from collections.abc import Callable, Mapping

from orchestrator.search_samplers.make_sampler import make_suggester
from orchestrator.search_samplers.sampler_names import SamplerName
from orchestrator.search_samplers.suggester import Outcome, SearchTask
from search_spaces.parameters import Real, Space, Value

_SAMPLERS: tuple[SamplerName, ...] = (
    *("random", "qmc", "grid", "coordinate", "coordinate-descent", "cma-es", "tpe", "gp"),
)
_SLOW: dict[SamplerName, int] = {"gp": 10, "tpe": 20}
_NOISE = 0.01

Config = Mapping[str, Value]
Surface = Callable[[list[float]], float]


def bowl(optimum: list[float]) -> Surface:
    return lambda point: math.dist(point, optimum)


def valley(optimum: list[float]) -> Surface:
    """Ten times as steep across the diagonal as along it."""

    def distance(point: list[float]) -> float:
        x, y = (a - b for a, b in zip(point, optimum, strict=True))
        return math.hypot((x + y) / 2**0.5, 10 * (x - y) / 2**0.5)

    return distance


SURFACES: dict[str, tuple[int, Callable[[list[float]], Surface]]] = {
    "bowl, 2": (2, bowl),
    "bowl, 4": (4, bowl),
    "valley, 2": (2, valley),
}


def searched(
    name: SamplerName, dims: int, surface: Surface, *, trials: int, workers: int, seed: int
) -> tuple[float, float]:
    """Distance of the picked config, and seconds that suggestions took."""
    draw = random.Random(seed)
    keys = [f"x{i}" for i in range(dims)]
    space, default = Space({key: Real(0.0, 1.0) for key in keys}), dict.fromkeys(keys, 0.5)
    task = SearchTask(
        space=space, values=default, conditions={}, trials=trials, seed=seed, first=(default,)
    )
    suggester = make_suggester(name, task)
    distances: list[float] = []
    scores: list[float] = []
    running: list[int] = []
    seconds = 0.0
    while len(distances) < trials or running:
        waits = suggester.wants_all_outcomes and running
        is_full = len(running) == workers or len(distances) == trials
        if waits or is_full or suggester.is_exhausted:
            if not running:
                break
            index = running.pop(draw.randrange(len(running)))
            suggester.tell(index, Outcome("COMPLETE", scores[index]))
            continue
        start, index = time.perf_counter(), len(distances)
        config: Config = suggester.suggest(index) if index else default
        if not index:
            suggester.set_suggestion(0, default)
        seconds += time.perf_counter() - start
        distances.append(surface([float(config[key]) for key in keys]))
        scores.append(1 - distances[-1] ** 2 + draw.gauss(0, _NOISE))
        running.append(index)
    return distances[scores.index(max(scores))], seconds / len(distances)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=25)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--workers", type=int, default=4)
    asked = parser.parse_args()
    print(f"{'sampler':18}" + "".join(f"{name:>18}" for name in SURFACES) + f"{'ms':>8}")
    for name in _SAMPLERS:
        texts, times = [], []
        for dims, make in SURFACES.values():
            found = []
            for seed in range(min(asked.seeds, _SLOW.get(name, asked.seeds))):
                where = random.Random(1000 + seed)
                surface = make([where.uniform(0.1, 0.9) for _ in range(dims)])
                distance, seconds = searched(
                    name, dims, surface, trials=asked.trials, workers=asked.workers, seed=seed
                )
                found.append(distance)
                times.append(seconds)
            error = statistics.stdev(found) / len(found) ** 0.5
            texts.append(f"{statistics.mean(found):.3f} +- {error:.3f}")
        row = "".join(f"{text:>18}" for text in texts)
        print(f"{name:18}{row}{statistics.mean(times) * 1000:8.1f}", flush=True)


if __name__ == "__main__":
    main()
