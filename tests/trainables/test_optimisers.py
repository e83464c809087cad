import pytest
import torch
from torch import nn

from tests.trainables.losses.loss_cases import full_batch
from trainables.optimisers import assert_owned_once, make_optimiser
from trainables.registry import load, names
from trainables.settings import TrainingSettings

TRAINING = TrainingSettings(learning_rate=1e-3, proxy_learning_rate=2e-2, weight_decay=0.3)


def prepared(loss, num_classes=4, dim=3):
    criterion = load("losses", loss)()
    criterion.prepare(num_classes, dim, torch.Generator().manual_seed(0))
    return criterion


def test_network_and_proxies_have_their_own_learning_rates_and_decay():
    network, criterion = nn.Linear(5, 3), prepared("proxy_anchor")
    of_network, of_criterion = make_optimiser(network, criterion, TRAINING).param_groups
    assert (of_network["lr"], of_network["weight_decay"]) == (1e-3, 0.3)
    assert (of_criterion["lr"], of_criterion["weight_decay"]) == (2e-2, 0.0)
    assert of_network["params"] == list(network.parameters())
    assert [weight.shape for weight in of_criterion["params"]] == [(4, 3)]


def test_a_loss_without_parameters_makes_no_group():
    assert (
        len(make_optimiser(nn.Linear(5, 3), prepared("contrastive"), TRAINING).param_groups) == 1
    )


@pytest.mark.parametrize("loss", names("losses"))
def test_a_step_moves_every_parameter_of_network_and_loss(loss):
    torch.manual_seed(0)
    network, criterion = nn.Linear(5, 3), prepared(loss)
    weights = [*network.parameters(), *criterion.parameters()]
    before = [weight.detach().clone() for weight in weights]
    optimiser = make_optimiser(network, criterion, TRAINING)
    labels = torch.arange(4).repeat_interleave(2)
    criterion(full_batch(network(torch.randn(8, 5)), labels)).value.backward()
    optimiser.step()
    for old, new in zip(before, weights, strict=True):
        assert not torch.equal(old, new)


def test_a_forgotten_parameter_is_named():
    network, criterion = nn.Linear(5, 3), prepared("proxy_anchor")
    optimiser = torch.optim.AdamW(network.parameters())
    with pytest.raises(
        AssertionError, match=r"own each parameter once: criterion\.proxies \(0 ti"
    ):
        assert_owned_once(optimiser, network=network, criterion=criterion)


def test_a_parameter_that_comes_after_the_optimiser_is_named():
    network, criterion = nn.Linear(5, 3), load("losses", "proxy_anchor")()
    optimiser = make_optimiser(network, criterion, TRAINING)
    criterion.prepare(4, 3, torch.Generator())
    with pytest.raises(AssertionError, match=r"criterion\.proxies \(0 times\)"):
        assert_owned_once(optimiser, network=network, criterion=criterion)


@pytest.mark.filterwarnings("ignore:optimizer contains a parameter group with duplicate")
def test_a_parameter_owned_twice_is_named():
    network = nn.Linear(5, 3)
    optimiser = torch.optim.AdamW([network.weight, network.bias, network.bias])
    with pytest.raises(AssertionError, match=r"network\.bias \(2 times\)"):
        assert_owned_once(optimiser, network=network)


def test_a_frozen_parameter_needs_no_owner():
    network = nn.Linear(5, 3)
    network.bias.requires_grad_(False)
    assert_owned_once(torch.optim.AdamW([network.weight]), network=network)
