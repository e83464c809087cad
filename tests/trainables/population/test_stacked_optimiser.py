"""Optimisers of many members against torch's optimiser of each, bit by bit."""

import pytest
import torch
from torch.optim import SGD, Adam, AdamW, RMSprop

from podium.trainables.population.stacked_optimiser import Rates, Trained, update

MEMBERS, STEPS = 3, 5
SHAPES = {"weight": (4, 6), "bias": (4,)}
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
RATES = [
    Rates(learning_rate=1e-3, decay=0.0, momentum=0.0, epsilon=1e-8),
    Rates(learning_rate=2e-2, decay=1e-2, momentum=0.9, epsilon=1.0),
    Rates(learning_rate=0.0, decay=0.1, momentum=0.5, epsilon=1e-6),
]


def alone(optimiser, values, rates):
    groups = [{"params": values, "lr": rates.learning_rate, "weight_decay": rates.decay}]
    if optimiser == "adamw":
        return AdamW(groups, eps=rates.epsilon, fused=True)
    if optimiser == "adam":
        return Adam(groups, eps=rates.epsilon, fused=True)
    if optimiser == "rmsprop":
        return RMSprop(groups, momentum=rates.momentum, foreach=True)
    return SGD(groups, momentum=rates.momentum, fused=True)


def drawn(shape, seed, device="cpu"):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn((MEMBERS, *shape), generator=generator).to(device)


def transposed(gradient):
    """The same numbers, in another order of memory, as gradients of products may be."""
    return gradient.transpose(1, -1).contiguous().transpose(1, -1)


def gradients_of(step, device="cpu"):
    return {name: transposed(drawn(shape, 10 + step, device)) for name, shape in SHAPES.items()}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("optimiser", ["adamw", "adam", "rmsprop", "sgd"])
def test_each_member_moves_as_torch_moves_it_alone(optimiser, device):
    group = {name: Trained.fresh(drawn(shape, 0, device)) for name, shape in SHAPES.items()}
    members = [
        [drawn(shape, 0, device)[member].clone() for shape in SHAPES.values()]
        for member in range(MEMBERS)
    ]
    optimisers = [
        alone(optimiser, values, rates) for values, rates in zip(members, RATES, strict=True)
    ]
    for step in range(STEPS):
        gradients = gradients_of(step, device)
        update(optimiser, group, gradients, RATES)
        for member, of_one in enumerate(optimisers):
            for value, gradient in zip(members[member], gradients.values(), strict=True):
                value.grad = gradient[member].contiguous()
            of_one.step()
    for member, values in enumerate(members):
        for value, trained in zip(values, group.values(), strict=True):
            assert torch.equal(trained.value[member], value)


def test_members_that_are_selected_keep_what_their_optimiser_remembers():
    group = {"weight": Trained.fresh(drawn(SHAPES["weight"], seed=0))}
    kept = torch.tensor([2, 0])
    for step in range(STEPS):
        update("adamw", group, gradients_of(step), RATES)
    few = {"weight": group["weight"].select(kept)}
    gradients = gradients_of(STEPS)
    update("adamw", group, gradients, RATES)
    update("adamw", few, {"weight": gradients["weight"][kept]}, [RATES[2], RATES[0]])
    assert torch.equal(few["weight"].value, group["weight"].value[kept])


def test_a_loss_without_parameters_has_nothing_to_move():
    update("adamw", {}, {}, RATES)
