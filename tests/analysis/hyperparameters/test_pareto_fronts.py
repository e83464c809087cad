import random

import polars as pl
import pytest

from podium.analysis.hyperparameters.pareto_fronts import has_time_objective, with_pareto_fronts


def trials_of(seed=0, number=60):
    """Of two searches, with failures and finals among them; ties are likely."""
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "trial_id": [f"t{i}" for i in range(number)],
            "search": [draw.choice("ab") for _ in range(number)],
            "stage": [draw.choice(["search", "search", "search", "final"]) for _ in range(number)],
            "state": [draw.choice(["COMPLETE", "COMPLETE", "FAILED"]) for _ in range(number)],
            "objective": [draw.randint(0, 9) / 10 for _ in range(number)],
            "seconds": [float(draw.randint(2, 12)) for _ in range(number)],
            "test_seconds": [float(draw.randint(0, 1)) for _ in range(number)],
        }
    )


def is_on_front(trial, trials):
    """From the definition, trial by trial."""
    if trial["stage"] != "search" or trial["state"] != "COMPLETE":
        return None
    for other in trials:
        if (other["search"], other["stage"], other["state"]) != (
            trial["search"],
            "search",
            "COMPLETE",
        ):
            continue
        gain = other["objective"] - trial["objective"]
        saved = time_of(trial) - time_of(other)
        if gain >= 0 and saved >= 0 and (gain > 0 or saved > 0):
            return False
    return True


def time_of(trial):
    return trial["seconds"] - trial["test_seconds"]


@pytest.mark.parametrize("seed", range(5))
def test_no_config_of_a_front_has_a_lower_score_without_being_faster(seed):
    frame = trials_of(seed)
    found = with_pareto_fronts(frame)
    rows = frame.to_dicts()
    assert found["on_front"].to_list() == [is_on_front(trial, rows) for trial in rows]
    assert found["training_seconds"].to_list() == [time_of(trial) for trial in rows]
    assert found["trial_id"].to_list() == frame["trial_id"].to_list()


def test_without_a_complete_search_trial_there_is_no_front():
    frame = trials_of().filter(stage="final")
    assert with_pareto_fronts(frame)["on_front"].null_count() == len(frame)


def test_studies_say_whether_they_were_searched_for_time():
    assert has_time_objective({"search": {"objectives": ["recall", "seconds"]}})
    assert not has_time_objective({"search": {"objectives": ["recall"]}})
    assert not has_time_objective({"search": {}})  # frozen before there were objectives
