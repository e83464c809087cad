"""A population over epochs and folds, and what becomes of members on the way."""

from dataclasses import replace

import pytest
import torch

from podium.trainables.errors import Diverged
from podium.trainables.population import run_population
from podium.trainables.population.population_fold import PopulationFold
from podium.trainables.population.run_population import Population
from podium.trainables.trial.run_trial import run_trial
from podium.trainables.trial.setup import set_up
from tests.soak import soak
from tests.trainables.tiny_trials import two_folds
from tests.trainables.trial.test_frozen_features import frozen_trial

BETAS = {"a": 10.0, "b": 30.0, "c": 50.0, "d": 70.0}


@pytest.fixture
def members(tmp_path):
    base = frozen_trial(tmp_path, of=two_folds, loss="multi_similarity", evaluate_test=False)
    return {name: replace(base, hyperparameters={"beta": beta}) for name, beta in BETAS.items()}


def run(population):
    found = {}
    while population.members:
        for member, report in population.step().items():
            found.setdefault(member, []).append(report)
    return found


def assert_equal(reports, trial):
    alone = list(run_trial(trial))
    assert [(report.fold, report.epoch) for report in reports] == [
        (report.fold, report.epoch) for report in alone
    ]
    for report, wanted in zip(reports, alone, strict=True):
        assert report.recall(1) == pytest.approx(wanted.recall(1), abs=0.03)  # a query of 48


def test_members_go_through_all_folds_as_trials_alone_do(members):
    for member, reports in run(Population(members)).items():
        assert_equal(reports, members[member])


@pytest.fixture(params=["in twos", *soak("at once", "one by one")])
def at_once(request, members, monkeypatch):
    """How many members the processor's caches hold."""
    setups = [set_up(trial) for trial in members.values()]
    one = PopulationFold(setups, 0, torch.device("cpu")).bytes_of_member
    size = {"at once": 4, "in twos": 2, "one by one": 1}[request.param]
    monkeypatch.setattr(run_population, "_CACHED_BYTES", 4 * one * size)
    return size


def test_a_large_head_is_trained_exactly_as_alone(members, monkeypatch):
    monkeypatch.setattr(run_population, "_LARGE_BYTES", 1)
    for member, reports in run(Population(members)).items():
        alone = list(run_trial(members[member]))
        assert [report.scores for report in reports] == [report.scores for report in alone]


def test_members_of_a_loss_of_large_tensors_are_trained_one_by_one(members):
    # It computes a number for each triplet: of a batch of 52 more than half a megabyte.
    assert at_once_of(members, loss="smooth_ap", batch_size=52) == 1
    assert at_once_of(members, loss="smooth_ap", batch_size=16) > 1
    assert at_once_of(members, loss="multi_similarity", batch_size=52) > 1


def at_once_of(members, *, loss, batch_size):
    setups = [
        set_up(
            replace(
                trial,
                loss=loss,
                hyperparameters={},
                training=replace(trial.training, batch_size=batch_size),
            )
        )
        for trial in members.values()
    ]
    device = torch.device("cpu")
    return run_population.members_at_once(PopulationFold(setups, 0, device), device)


def test_members_that_caches_do_not_hold_are_trained_in_parts(members, at_once):
    population = Population(members)
    found = run(population)
    assert [len(part.members) for part in population._parts] == [at_once] * (4 // at_once)
    for member, reports in found.items():
        assert_equal(reports, members[member])


@pytest.mark.usefixtures("at_once")
def test_who_is_dropped_reports_no_more_and_the_others_go_on(members):
    population = Population(members)
    found = {member: [report] for member, report in population.step().items()}
    population.drop(["a", "c", "d"])
    assert population.members == ("b",)
    for member, reports in run(population).items():
        found[member] += reports
    assert [len(found[member]) for member in BETAS] == [1, 4, 1, 1]
    assert_equal(found["b"], members["b"])


@pytest.mark.usefixtures("at_once")
def test_who_fails_is_dropped_with_its_reason(members):
    fast = {"head_learning_rate_factor": 1e4, "learning_rate": 1.0, "weight_decay": 1.0}
    members = {
        name: replace(trial, training=replace(trial.training, optimiser="sgd", epochs=8))
        for name, trial in members.items()
    }
    members["c"] = replace(members["c"], hyperparameters=fast)
    found = run(Population(members))
    assert [len(found[member]) for member in "abd"] == [16, 16, 16]
    assert isinstance(found["c"][-1], Diverged)
    assert len(found["c"]) < 8


def test_a_population_without_members_is_over(members):
    population = Population(members)
    population.drop(members)
    assert population.members == ()
