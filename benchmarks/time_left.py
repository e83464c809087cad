"""How close the estimate of the time that a study still takes comes to the truth.

    python -m benchmarks.time_left [--demo]

Studies are simulated in made-up time (`benchmarks.simulated_time`), but for --demo, which runs the
quickstart study on Ray. Prints estimated / true seconds left at parts of a run.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import podium
from benchmarks.simulated_time import Costs, SimulatedSlots, ratio_at, simulate
from orchestrator.study_validation.load_study import load_study

PARTS = (0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.95)

_LOSSES = {"contrastive": 1.0, "multi_similarity": 1.4, "proxy_anchor": 0.7, "triplet": 2.5}
_DIMENSIONS = {8: 1.0, 16: 1.5, 32: 3.0}


class Simulated(NamedTuple):
    """A study and what it costs; it is stopped and continued after ``stop_after`` seconds."""

    keys: dict[str, object]
    num_slots: int
    costs: Costs
    stop_after: float | None = None


def _keys(stopping: object, trials: int, epochs: int, **more: object) -> dict[str, object]:
    return {
        "study": "simulated",
        "datasets": [{"name": "glyphs", "script": "greek"}],
        "embedding_dims": list(_DIMENSIONS),
        "losses": list(_LOSSES),
        "protocol": {"kind": "fixed", "val_fraction": 0.25},
        "search": {"trials": trials, "sampler": "random", "early_stopping": stopping},
        "final": {"seeds": 2},
        "training": {"epochs": epochs},
        **more,
    }


_ASHA = {"kind": "asha", "grace_epochs": 1, "reduction_factor": 3}
_UNEQUAL = Costs(epoch=20, by_loss=_LOSSES, by_dimension=_DIMENSIONS, spread=1.5, start=15)

SIMULATED: dict[str, Simulated] = {
    "equal trials, none pruned, 2 slots": Simulated(_keys("none", 10, 5), 2, Costs(epoch=5)),
    "unequal trials, pruned, 4 slots": Simulated(_keys(_ASHA, 20, 9), 4, _UNEQUAL),
    "unequal trials, slower by a third at the end": Simulated(
        _keys(_ASHA, 20, 9),
        4,
        Costs(epoch=20, by_loss=_LOSSES, by_dimension=_DIMENSIONS, spread=1.5, drift=1.11),
    ),
    "unequal trials, stopped and continued": Simulated(_keys(_ASHA, 9, 9), 4, _UNEQUAL, 3000.0),
    "few long trials, 8 slots": Simulated(
        _keys("none", 3, 30), 8, Costs(epoch=60, by_loss=_LOSSES, by_dimension=_DIMENSIONS)
    ),
    "quick trials with a slow start, 2 slots": Simulated(
        _keys(_ASHA, 9, 5), 2, Costs(epoch=0.3, by_loss=_LOSSES, start=0.5, first_start=12, test=2)
    ),
    "four folds, raced": Simulated(
        _keys("folds", 8, 5, protocol={"kind": "kfold", "folds": 4}), 3, _UNEQUAL
    ),
    "heads together, 2 slots": Simulated(
        _keys(
            "none",
            12,
            5,
            search={"trials": 12, "early_stopping": "none", "sampler": "random", "population": 4},
            training={"epochs": 5, "mode": "frozen_features"},
        ),
        2,
        Costs(epoch=5),
    ),
}


def simulated(name: str, storage: Path) -> SimulatedSlots:
    """Simulate one of `SIMULATED`; of one that is continued the second run."""
    keys, num_slots, costs, stop_after = SIMULATED[name]
    study = load_study(keys)
    slots = SimulatedSlots(num_slots, costs, stop_after)
    simulate(study, storage, slots)
    if stop_after is not None:
        slots = SimulatedSlots(num_slots, costs, began=slots.now)
        simulate(study, storage, slots)
    return slots


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--demo", action="store_true", help="run the quickstart study instead")
    options = parser.parse_args()
    parts = " | ".join(f"{part:.0%}" for part in PARTS)
    print(f"| study | first at | {parts} |\n|{'---|' * (len(PARTS) + 2)}")
    for name in () if options.demo else SIMULATED:
        with tempfile.TemporaryDirectory() as storage:
            _print(name, simulated(name, Path(storage)))
    if options.demo:
        with tempfile.TemporaryDirectory() as storage:
            _print("quickstart on Ray", _demo(storage))


def _print(name: str, run: SimulatedSlots) -> None:
    ratios = (ratio_at(run, part) for part in PARTS)
    shown = " | ".join("-" if ratio is None else f"{ratio:.2f}" for ratio in ratios)
    first = (run.estimates[0][0] - run.began) / (run.now - run.began)
    print(f"| {name} | {first:.1%} | {shown} |", flush=True)


def _demo(storage: str) -> SimulatedSlots:
    """The quickstart, from its first trial to its last, with the estimates that it tells."""
    run = SimulatedSlots(1, Costs())

    def note(event: podium.Event) -> None:
        assert event.progress is not None
        run.now = time.monotonic()
        if event.kind == "study started":
            run.began = run.now
        elif event.kind == "progress" and event.progress.seconds_left is not None:
            run.estimates.append((run.now, event.progress.seconds_left))

    podium.load("quickstart", storage=storage).run(
        on_event=lambda event: note(event) if event.progress else None
    )
    return run


if __name__ == "__main__":
    main()
