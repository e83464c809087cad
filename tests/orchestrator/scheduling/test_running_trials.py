"""What running trials occupy is known without a look at each of them."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from podium.orchestrator.scheduling.running_trial import RunningTrial, RunningTrials
from podium.orchestrator.study.resource_demand import Demand
from podium.orchestrator.trials.history import TrialHistory
from podium.orchestrator.trials.specification import TrialSpec

WHOLE = Demand(cpus=2.0, gpus=0.1)
DEMANDS = (WHOLE, WHOLE.part(3), Demand(cpus=8.0, gpus=1.0))


def running_trial(number, demand, is_alone):
    seen = dict.fromkeys(("split_hash", "protocol_hash", "test_hash", "data_hash", "weights"), "")
    spec = TrialSpec(
        trial_id=str(number),
        stage="search",
        search=None,
        index=number,
        settings=None,
        **seen,
    )
    return RunningTrial(
        spec=spec,
        history=TrialHistory(1),
        demand=demand,
        is_alone=is_alone,
        serial=number,
        attempt=1,
        earlier=(),
    )


@given(dice=st.randoms(use_true_random=False), num_steps=st.integers(1, 60))
def test_what_is_kept_of_running_trials_is_what_a_look_at_each_gives(dice, num_steps):
    running, every = RunningTrials(), []
    for number in range(num_steps):
        match dice.choice(["hand out", "begin", "end"]):
            case "hand out" if not running.wait_for_one_alone:
                every.append(running_trial(number, dice.choice(DEMANDS), dice.random() < 0.3))
                running.add(every[-1])
            case "begin" if every:
                dice.choice(every).note_message()
            case "end" if every:
                running.remove(every.pop(dice.randrange(len(every))))
        assert list(running.all()) == every
        assert len(running) == len(every)
        assert running.occupied == Counter(one.demand for one in every)
        waits = any(one.begun is None and one.is_alone for one in every)
        assert running.wait_for_one_alone == waits


def test_nothing_is_known_of_a_trial_that_does_not_run():
    running, one = RunningTrials(), running_trial(1, WHOLE, is_alone=False)
    running.add(one)
    assert running.get("1") is one
    running.remove(one)
    assert running.get("1") is None
