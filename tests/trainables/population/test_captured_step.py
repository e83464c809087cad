"""Steps of a population as CUDA graphs, against single kernels and against trials alone."""

import pytest
import torch

from podium.trainables.population import captured_step, population_fold
from podium.trainables.population.population_fold import PopulationFold
from podium.trainables.trial.run_trial import run_trial
from podium.trainables.trial.setup import set_up
from tests.trainables.population.test_population_fold import RATES, mapped_losses, trials

CUDA = torch.device("cuda")
pytestmark = pytest.mark.gpu
CONFIGS = [{"learning_rate": rate} for rate in RATES]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def replays(monkeypatch):
    """One entry for each step that a graph made."""
    made = []
    replay = captured_step._Graph.replay
    monkeypatch.setattr(
        captured_step._Graph, "replay", lambda *given: made.append(1) or replay(*given)
    )
    return made


def scores(members):
    setups = [set_up(member) for member in members]
    fold = PopulationFold(setups, 0, CUDA)
    epochs = range(1, setups[0].last_epoch + 1)
    return [[report.scores for report in fold.run_epoch(epoch)] for epoch in epochs]


def kernel_by_kernel(members, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(population_fold, "CapturedStep", lambda step: step)
        return scores(members)


def assert_nearly_alone(members, found):
    """Losses of the first epoch, before rounding of sums in another order has grown."""
    for number, member in enumerate(members):
        alone = next(iter(run_trial(member))).scores[0]
        together = found[0][number][0]
        assert (alone.role, alone.metric) == (together.role, together.metric) == ("train", "loss")
        assert together.value == pytest.approx(alone.value, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("loss", mapped_losses())
def test_a_graph_of_every_loss_gives_the_bits_of_its_kernels(loss, cache, replays, monkeypatch):
    members = trials(cache, loss, *CONFIGS, batch_size=16)
    found = scores(members)
    assert len(replays) > 4
    assert found == kernel_by_kernel(members, monkeypatch)
    assert_nearly_alone(members, found)


@pytest.mark.parametrize("optimiser", ["adamw", "adam", "rmsprop", "sgd"])
def test_rates_that_change_reach_the_graph_of_every_optimiser(
    optimiser, cache, replays, monkeypatch
):
    members = trials(
        cache,
        "proxy_anchor",
        {"learning_rate": 1e-3, "clip_value": 0.0},
        {"learning_rate": 5e-3, "clip_value": 0.1},
        optimiser=optimiser,
        step_epochs=1,
        step_factor=0.5,
        batch_size=16,
    )
    found = scores(members)
    assert replays
    assert found == kernel_by_kernel(members, monkeypatch)
    assert_nearly_alone(members, found)


def test_members_that_are_left_get_a_graph_of_their_own(cache, replays, monkeypatch):
    members = trials(cache, "margin", *({"margin": margin} for margin in (0.1, 0.2, 0.3)))
    found = []
    for is_captured in (True, False):
        with monkeypatch.context() as patch:
            if not is_captured:
                patch.setattr(population_fold, "CapturedStep", lambda step: step)
            fold = PopulationFold([set_up(member) for member in members], 0, CUDA)
            fold.run_epoch(1)
            fold.keep([2, 0])
            found.append([report.scores for report in fold.run_epoch(2)])
    assert replays
    assert found[0] == found[1]
