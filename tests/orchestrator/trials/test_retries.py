"""What follows a failed attempt, by the attempts in the store."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from podium.orchestrator.results.records.journal_records import Attempt
from podium.orchestrator.study.resource_demand import Capacity, Demand
from podium.orchestrator.trials.retries import (
    MAX_FRUITLESS_ATTEMPTS,
    demand_of_next_attempt,
    failure_of,
    is_retried,
)

START = datetime(2026, 1, 2, tzinfo=UTC)
QUARTER = Demand(cpus=2.0, gpus=0.25)
NODES = (Demand(cpus=8.0, gpus=0.0), Demand(cpus=32.0, gpus=4.0), Demand(cpus=64.0, gpus=0.0))
CLUSTER = Capacity(cpus=104.0, gpus=4.0, nodes=NODES)


def tries(*ends, **more):
    """Attempts that ended with a cause after so many reports: ``("stuck", 3)`` or ``"stuck"``."""
    pairs = [end if isinstance(end, tuple) else (end, 0) for end in ends]
    return tuple(
        Attempt(
            trial_id="t",
            search="s",
            number=number,
            node="n",
            pid=1,
            device="cpu",
            started_at=START,
            ended_at=None,
            cause=cause,
            message="killed",
            reports=reports,
            **(more if number == len(pairs) else {}),
        )
        for number, (cause, reports) in enumerate(pairs, start=1)
    )


def cause_after(*ends, had=QUARTER, capacity=CLUSTER):
    failure = failure_of(tries(*ends), had, capacity)
    return failure and failure.cause


@pytest.mark.parametrize(
    ("cause", "fails_as"),
    [
        ("lost_node", "lost"),
        ("lost_worker", "lost"),
        ("stuck", "stuck"),
        ("device", "device"),
        ("data", "data"),
    ],
)
def test_three_losses_without_progress_are_a_failure_and_two_are_not(cause, fails_as):
    assert cause_after(*[cause] * (MAX_FRUITLESS_ATTEMPTS - 1)) is None
    assert cause_after(*[cause] * MAX_FRUITLESS_ATTEMPTS) == fails_as


def test_progress_starts_the_count_again():
    assert cause_after("lost_node", "lost_node", ("lost_node", 1), ("lost_node", 1)) is None
    ends = ["lost_node", "lost_node", *[("lost_node", 1)] * 3]
    assert cause_after(*ends) is None
    assert cause_after(*ends, ("lost_node", 1)) == "lost"


def test_saying_again_what_was_said_is_no_progress():
    assert cause_after(("lost_worker", 4), ("lost_worker", 4), ("lost_worker", 2)) is None
    ends = [("lost_worker", done) for done in (4, 4, 2, 3)]
    assert cause_after(*ends) == "lost"


def test_interruptions_between_losses_neither_count_nor_forgive():
    between = ["lost_node", None, "stopped", "lost_worker", "preempted", "lost_node"]
    assert cause_after(*between) == "lost"


def test_losses_of_different_kinds_are_counted_apart():
    ends = ["stuck", "stuck", "lost_node", "lost_node"]
    assert cause_after(*ends) is None
    assert cause_after(*ends, "stuck") == "stuck"
    assert cause_after(*ends, "lost_worker") == "lost"


@pytest.mark.parametrize("cause", ["diverged", "error", "input", "timeout", "stopped", None])
def test_other_causes_are_never_retried(cause):
    assert not is_retried(cause)


def test_a_full_device_gives_the_next_try_all_of_it():
    again = demand_of_next_attempt(tries("out_of_memory"), QUARTER, CLUSTER)
    assert again == Demand(cpus=2.0, gpus=1.0)
    assert demand_of_next_attempt(tries("lost_node"), QUARTER, CLUSTER) == QUARTER
    assert demand_of_next_attempt((), QUARTER, CLUSTER) == QUARTER


@pytest.mark.parametrize("cause", ["killed_for_memory", "out_of_host_memory"])
def test_a_full_node_gives_the_next_try_a_whole_node_that_has_its_gpus(cause):
    again = demand_of_next_attempt(tries(cause), QUARTER, CLUSTER)
    assert again == Demand(cpus=32.0, gpus=0.25)
    of_cpus = demand_of_next_attempt(tries(cause), Demand(cpus=1.0, gpus=0.0), CLUSTER)
    assert of_cpus == Demand(cpus=64.0, gpus=0.0)


def test_the_last_try_before_a_failure_by_nodes_has_one_to_itself():
    ends = ["lost_node", "lost_node"]
    assert demand_of_next_attempt(tries(*ends[:1]), QUARTER, CLUSTER) == QUARTER
    assert demand_of_next_attempt(tries(*ends), QUARTER, CLUSTER) == Demand(cpus=32.0, gpus=0.25)
    assert (
        demand_of_next_attempt(tries("lost_node", "preempted", "lost_node"), QUARTER, CLUSTER).cpus
        == 32
    )
    assert demand_of_next_attempt(tries(*ends, ("lost_node", 1)), QUARTER, CLUSTER) == QUARTER
    assert demand_of_next_attempt(tries("lost_worker", "lost_worker"), QUARTER, CLUSTER) == QUARTER


def test_a_trial_stays_alone_whatever_ends_its_next_tries():
    ends = ("out_of_memory", "preempted", None, "stopped")
    assert demand_of_next_attempt(tries(*ends), QUARTER, CLUSTER).gpus == 1.0


def test_memory_that_runs_out_twice_fails_with_the_peak():
    assert cause_after("out_of_memory") is None
    alone = Demand(cpus=2.0, gpus=1.0)
    both = tries(
        "out_of_memory", "out_of_memory", peak_memory_mb=15155.2, device_memory_mb=15360.0
    )
    failure = failure_of(both, alone, CLUSTER)
    assert failure.cause == "out_of_memory"
    assert failure.peak_memory_mb == 15155.2
    assert failure.message == (
        "ran out of memory alone on its device: peak 14.8 GiB of 15.0 GiB; killed"
    )


def test_what_was_alone_from_the_start_is_not_retried_and_says_so():
    failure = failure_of(tries("out_of_memory"), Demand(cpus=1.0, gpus=2.0), CLUSTER)
    assert failure.cause == "out_of_memory"
    assert "alone from the start" in failure.message
    one_at_a_time = Capacity(cpus=8.0, gpus=0.0, max_trials=1)
    assert cause_after("killed_for_memory", capacity=one_at_a_time) == "out_of_memory"


@pytest.mark.parametrize("left", [(), (Demand(cpus=1.0, gpus=0.0),)])
def test_a_trial_whose_node_is_gone_by_now_was_not_alone_for_that(left):
    shrunk = Capacity(cpus=8.0, gpus=0.0, nodes=left)
    assert cause_after("killed_for_memory", capacity=shrunk) is None
    assert cause_after("killed_for_memory") is None


def test_a_device_is_no_node_each_kind_of_memory_has_its_turn():
    alone_on_device = Demand(cpus=2.0, gpus=1.0)
    ends = ("out_of_memory", "killed_for_memory")
    assert cause_after(*ends, had=alone_on_device) is None
    both = demand_of_next_attempt(tries(*ends), QUARTER, CLUSTER)
    assert both == Demand(cpus=32.0, gpus=1.0)
    assert cause_after(*ends, "killed_for_memory", had=both) == "out_of_memory"


def test_losses_of_the_lonely_try_do_not_make_it_a_failure_of_memory():
    alone = Demand(cpus=2.0, gpus=1.0)
    assert cause_after("out_of_memory", "lost_node", had=alone) is None
    assert cause_after("out_of_memory", "lost_node", "out_of_memory", had=alone) == "out_of_memory"


def in_population(*ends):
    """Attempts as ``(cause, members)``."""
    return tuple(
        replace(attempt, members=members)
        for attempt, (_, members) in zip(tries(*(cause for cause, _ in ends)), ends, strict=True)
    )


HELD = ["lost_node", "lost_worker", "stuck", "device", "killed_for_memory", "out_of_memory"]


@pytest.mark.parametrize("cause", HELD)
def test_a_population_that_is_lost_is_halved_until_each_trial_is_alone_and_nobody_fails(cause):
    ends, sizes = [], []
    while not sizes or sizes[-1] > 1:
        again = demand_of_next_attempt(in_population(*ends), QUARTER, CLUSTER, members=9)
        sizes.append(again.num_members)
        if again.is_member:
            assert again == QUARTER.part(sizes[-1])
            ends.append((cause, sizes[-1]))
            assert failure_of(in_population(*ends), again, CLUSTER) is None
    assert sizes == [9, 4, 2, 1]
    assert again == QUARTER


@pytest.mark.parametrize("cause", ["preempted", "stopped", None])
def test_a_population_that_was_interrupted_or_preempted_stays_whole(cause):
    ends = in_population(*[(cause, 8)] * 9)
    assert demand_of_next_attempt(ends, QUARTER, CLUSTER, members=8) == QUARTER.part(8)


def test_a_part_of_a_population_that_was_lost_is_halved_by_its_own_size():
    ends = in_population(("lost_worker", 3))
    assert demand_of_next_attempt(ends, QUARTER, CLUSTER, members=64) == QUARTER


def test_only_what_a_trial_does_alone_is_held_against_it():
    lost = [("lost_worker", 4), ("lost_worker", 2)]
    alone = [("lost_worker", 1)] * MAX_FRUITLESS_ATTEMPTS
    assert failure_of(in_population(*lost, *alone[:-1]), QUARTER, CLUSTER) is None
    assert failure_of(in_population(*lost, *alone), QUARTER, CLUSTER).cause == "lost"


def test_memory_that_ran_out_in_a_population_asks_for_no_node_before_it_runs_out_alone():
    ends = [("killed_for_memory", 2)]
    again = demand_of_next_attempt(in_population(*ends), QUARTER, CLUSTER, members=2)
    assert again == QUARTER
    again = demand_of_next_attempt(
        in_population(*ends, ("killed_for_memory", 1)), QUARTER, CLUSTER, members=2
    )
    assert again == Demand(cpus=32.0, gpus=0.25)
