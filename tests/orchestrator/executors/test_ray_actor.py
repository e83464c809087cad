"""When a process that ran trials is replaced."""

from podium.orchestrator.executors.ray_actor import ProcessWear
from podium.orchestrator.trials.worker_messages import Ended


def ended(**changes) -> Ended:
    return Ended(**{"state": "COMPLETE", **changes})


def test_a_process_that_ran_ordinary_trials_continues():
    wear = ProcessWear(trials=499)
    wear.receive([ended(), ended(state="FAILED", cause="diverged")])
    assert not wear.is_worn(device_bytes=500 * 2**20, process_bytes=3 * 2**30)
    assert not wear.is_worn(device_bytes=0, process_bytes=4 * 2**30)


def test_one_in_which_something_may_have_stayed_does_not():
    wear = ProcessWear()
    wear.receive([ended(recycle=True), ended()])
    assert wear.is_worn(device_bytes=0, process_bytes=0)


def test_nor_does_one_after_1500_trials_or_with_memory_that_did_not_come_back():
    assert ProcessWear(trials=1499).is_worn(device_bytes=0, process_bytes=0)
    assert ProcessWear().is_worn(device_bytes=513 * 2**20, process_bytes=0)
    wear = ProcessWear()
    assert not wear.is_worn(device_bytes=0, process_bytes=3 * 2**30)
    assert wear.is_worn(device_bytes=0, process_bytes=4 * 2**30 + 1)


def test_processes_that_start_together_do_not_end_together():
    limits = [ProcessWear().max_trials for _ in range(100)]
    assert len(set(limits)) > 20
    assert all(500 <= limit < 1500 for limit in limits)
