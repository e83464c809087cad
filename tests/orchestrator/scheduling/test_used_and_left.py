"""Estimates of the time that is left, against studies simulated in made-up time."""

import pytest

from benchmarks.simulated_time import Costs, SimulatedSlots, ratio_at, simulate
from podium.orchestrator.study_validation.load_study import load_study

LOSSES = {"contrastive": 1.0, "multi_similarity": 1.4, "proxy_anchor": 0.7, "triplet": 2.5}
DIMENSIONS = {8: 1.0, 16: 1.5, 32: 3.0}
ASHA = {"kind": "asha", "grace_epochs": 1, "reduction_factor": 3}
UNEQUAL = Costs(epoch=20, by_loss=LOSSES, by_dimension=DIMENSIONS, spread=1.5, start=15)


def study_of(stopping, trials, epochs, population=1, **training):
    return load_study(
        {
            "study": "simulated",
            "datasets": [{"name": "glyphs", "script": "greek"}],
            "embedding_dims": list(DIMENSIONS),
            "losses": list(LOSSES),
            "protocol": {"kind": "fixed", "val_fraction": 0.25},
            "search": {
                "trials": trials,
                "sampler": "random",
                "early_stopping": stopping,
                "population": population or "off",
            },
            "final": {"seeds": 2},
            "training": {"epochs": epochs, **training},
        }
    )


def simulated(study, storage, costs, num_slots, stop_after=None):
    """The run, or the second one of a study that was stopped after so many seconds."""
    slots = SimulatedSlots(num_slots, costs, stop_after)
    simulate(study, storage, slots)
    if stop_after is not None:
        slots = SimulatedSlots(num_slots, costs, began=slots.now)
        simulate(study, storage, slots)
    return slots


@pytest.mark.parametrize(
    ("study", "costs", "num_slots", "stop_after"),
    [
        ((ASHA, 9, 9), UNEQUAL, 4, 3000.0),
        (("none", 3, 30), Costs(epoch=60, by_loss=LOSSES, by_dimension=DIMENSIONS), 8, None),
    ],
    ids=["stopped and continued", "few long trials"],
)
def test_estimates_are_within_a_factor_of_the_truth_and_what_is_done_never_falls(
    tmp_path, study, costs, num_slots, stop_after
):
    run = simulated(study_of(*study), tmp_path, costs, num_slots, stop_after)
    first, left, _ = run.estimates[0]
    for ratio in (left / (run.now - first), ratio_at(run, 0.5), ratio_at(run, 0.75)):
        assert 1 / 1.6 < ratio < 1.6
    done = [part for _, _, part in run.estimates]
    assert done == sorted(done)
    assert done[-1] > 0.9
    assert 0 < done[0] < 0.5 or stop_after is not None


def test_heads_that_are_trained_together_have_parts_of_a_slot(tmp_path):
    study = study_of("none", 12, 5, population=4, mode="frozen_features")
    run = simulated(study, tmp_path, Costs(epoch=5), 2)
    assert 1 / 1.6 < ratio_at(run, 0.5) < 1.6
