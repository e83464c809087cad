import pytest
import torch
from torch import nn

from podium.trainables.settings.training_settings import LEGAL_VALUES
from podium.trainables.training_loop.optimisers import (
    assert_owned_once,
    clip_gradients,
    make_optimiser,
)
from tests.trainables.losses.loss_cases import prepared_loss
from tests.trainables.tiny_networks import settings, tiny_embedder

TRAINING = settings(
    learning_rate=1e-3,
    head_learning_rate_factor=3.0,
    proxy_learning_rate=2e-2,
    weight_decay=0.3,
    proxy_weight_decay=0.1,
)


def prepared(loss):
    return prepared_loss(loss, num_classes=4, dim=4, seed=0)


def weights_of(*modules):
    return [weight for module in modules for weight in module.parameters()]


def values_of(*modules):
    return [weight.detach().clone() for weight in weights_of(*modules)]


def test_backbone_embedding_layer_and_proxies_have_their_own_learning_rates_and_decay():
    embedder, criterion = tiny_embedder(), prepared("proxy_anchor")
    groups = make_optimiser(embedder, criterion, TRAINING).param_groups
    assert [(group["name"], group["lr"], group["weight_decay"]) for group in groups] == [
        ("backbone", 1e-3, 0.3),
        ("embedding", pytest.approx(3e-3), 0.3),
        ("loss", 2e-2, 0.1),
    ]
    of_backbone, of_embedding, of_loss = (group["params"] for group in groups)
    assert of_backbone == list(embedder.backbone.parameters())
    assert of_embedding == list(embedder.embedding.parameters())
    assert [weight.shape for weight in of_loss] == [(4, 4)]


@pytest.mark.parametrize(
    ("clipped", "expected"),
    [("all", (0.5, 0.5)), ("network", (0.5, 3.0)), ("loss", (3.0, 0.5))],
)
def test_gradients_are_clipped_number_by_number_where_the_recipe_says(clipped, expected):
    modules = [nn.Linear(2, 2), nn.Linear(2, 2)]
    for module in modules:
        module.weight.grad = torch.tensor([[3.0, -3.0], [0.25, 0.0]])
    clip_gradients(
        modules[0].parameters(),
        modules[1].parameters(),
        settings(clip_value=0.5, clipped=clipped),
    )
    for module, bound in zip(modules, expected, strict=True):
        assert module.weight.grad.tolist() == [[bound, -bound], [0.25, 0.0]]


def test_a_bound_of_zero_clips_nothing():
    module = nn.Linear(1, 1)
    module.weight.grad = torch.tensor([[1e30]])
    clip_gradients(module.parameters(), [], settings(clip_value=0.0))
    assert module.weight.grad.item() == pytest.approx(1e30)


def test_a_forgotten_parameter_is_named():
    network, criterion = nn.Linear(5, 4), prepared("proxy_anchor")
    optimiser = torch.optim.AdamW(network.parameters())
    with pytest.raises(
        AssertionError, match=r"own each parameter once: criterion\.proxies \(0 ti"
    ):
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


@pytest.mark.gpu
@pytest.mark.parametrize("name", LEGAL_VALUES["optimiser"].values)
def test_optimisers_step_on_cuda_as_on_the_cpu(name):
    """By the same gradients: where one is 0, as before BatchNorm, its rounding decides a step."""
    embedders = [tiny_embedder().to(device) for device in ("cpu", "cuda")]
    optimisers = [
        make_optimiser(embedder, prepared("contrastive"), settings(optimiser=name))
        for embedder in embedders
    ]
    generator = torch.Generator().manual_seed(0)
    for _ in range(2):
        for pair in zip(*map(weights_of, embedders), strict=True):
            gradient = torch.randn(pair[0].shape, generator=generator)
            for weight in pair:
                weight.grad = gradient.to(weight)
        for optimiser in optimisers:
            optimiser.step()
    for on_cpu, on_cuda in zip(*map(values_of, embedders), strict=True):
        torch.testing.assert_close(on_cuda.cpu(), on_cpu, rtol=1e-5, atol=1e-6)
