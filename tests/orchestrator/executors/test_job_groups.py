"""Which jobs share a worker slot."""

from types import SimpleNamespace

from podium.orchestrator.executors.job_groups import job_groups
from podium.orchestrator.scheduling.executor_interface import NoJob
from podium.orchestrator.study.resource_demand import Demand

SLOT = Demand(cpus=1.0, gpus=0.5)


def job(trial_id, population=None, members=2):
    demand = SLOT if population is None else SLOT.part(members)
    return SimpleNamespace(trial_id=trial_id, population=population, demand=demand)


def groups_of(*given):
    left = [*given]
    groups = job_groups(lambda: left.pop(0))
    while True:
        found = next(groups)
        if found is NoJob.FINISHED:
            return
        yield found if isinstance(found, NoJob) else [job.trial_id for job in found]


def test_a_trial_that_runs_alone_is_a_group():
    assert list(groups_of(job("a"), job("b"), NoJob.FINISHED)) == [["a"], ["b"]]


def test_trials_of_one_population_are_a_group_whatever_comes_between():
    given = [job("a", "x"), job("b", "y"), job("c", "x"), job("d"), NoJob.WAIT, NoJob.FINISHED]
    assert list(groups_of(*given)) == [["a", "c"], ["b"], ["d"]]


def test_what_waits_is_asked_for_again():
    given = [job("a", "x"), NoJob.WAIT, NoJob.WAIT, job("b", "x"), NoJob.WAIT, NoJob.FINISHED]
    assert list(groups_of(*given)) == [["a"], NoJob.WAIT, ["b"]]


def test_the_trials_of_several_slots_are_as_many_groups():
    given = [*(job(trial_id, "x", members=3) for trial_id in "abcdefg"), NoJob.WAIT]
    assert list(groups_of(*given, NoJob.FINISHED)) == [["a", "b", "c"], ["d", "e", "f"], ["g"]]


def test_trials_of_a_population_that_was_halved_are_a_group_of_their_own():
    given = [job("a", "x", 2), job("b", "x", 4), job("c", "x", 2), job("d", "x", 4), NoJob.WAIT]
    assert list(groups_of(*given, NoJob.FINISHED)) == [["a", "c"], ["b", "d"]]
