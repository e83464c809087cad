"""Which jobs share a worker slot."""

from types import SimpleNamespace

from orchestrator.executors.job_groups import JobGroups
from orchestrator.scheduling.executor_interface import NoJob


def job(trial_id, population=None):
    return SimpleNamespace(trial_id=trial_id, population=population)


def groups_of(*given):
    left = [*given]
    groups = JobGroups(lambda: left.pop(0))
    while True:
        found = groups.next()
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
