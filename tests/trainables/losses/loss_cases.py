"""Batches, hyperparameters and gradients for the tests that run over all losses."""

import importlib
import itertools

import torch

from search_spaces.catalogue import defaults, loss_facts
from trainables.losses._base import Batch
from trainables.registry import load, names

LOSSES = names("losses")
DIM = 8


def prepared_loss(name, *, num_classes, dim=DIM, dtype=torch.float32, seed=1, **hyperparameters):
    loss = load("losses", name)(**hyperparameters)
    loss.prepare(num_classes, dim, torch.Generator().manual_seed(seed))
    return loss.to(dtype)


def embeddings(num_rows, *, dim=DIM, dtype=torch.float32, seed=0):
    return torch.randn(num_rows, dim, generator=torch.Generator().manual_seed(seed)).to(dtype)


def balanced_labels(num_classes=6, samples_per_class=4):
    return torch.arange(num_classes).repeat_interleave(samples_per_class)


def labelled_batches():
    """Name -> (embeddings, labels, number of classes): what a sampler may hand to a loss."""
    balanced = balanced_labels()
    x = embeddings(24)
    duplicated = x.clone()
    duplicated[1] = duplicated[0]  # within a class
    duplicated[23] = duplicated[0]  # across classes
    return {
        "balanced": (x, balanced, 6),
        "unbalanced": (x, torch.tensor([0] * 11 + [1] * 2 + [2] * 6 + [4] * 5), 6),
        "long embeddings": (x * torch.arange(1.0, 25.0)[:, None], balanced, 6),
        "clustered": (embeddings(6, seed=5)[balanced] + 0.3 * x, balanced, 6),
        "duplicates": (duplicated, balanced, 6),
        "no positives": (x, torch.arange(24), 24),
        "singletons beside pairs": (x, torch.tensor([*range(12), *range(6), *range(6)]), 12),
        "one class": (x, torch.zeros(24, dtype=torch.int64), 1),
        "one class of many": (x, torch.full((24,), 3), 6),
        "one sample": (x[:1], torch.zeros(1, dtype=torch.int64), 2),
    }


BATCHES = labelled_batches()


def corners(name):
    """Every combination of the ends of the joint space's ranges."""
    ranges = loss_facts(name).spaces["joint"].parameters
    ends = itertools.product(*(tried.ends() for tried in ranges.values()))
    return [{**defaults(name), **dict(zip(ranges, point, strict=True))} for point in ends]


def points_between(name, *, num_points, seed=0):
    """Points inside the joint space, the published default first."""
    generator = torch.Generator().manual_seed(seed)
    points = [defaults(name)]
    for _ in range(num_points - 1):
        point = dict(points[0])
        for parameter, tried in loss_facts(name).spaces["joint"].parameters.items():
            share = torch.rand((), generator=generator).item()
            low, high = tried.ends()[0], tried.ends()[-1]
            point[parameter] = (
                low * (high / low) ** share if tried.log else low + share * (high - low)
            )
        points.append(point)
    return points


def value_and_gradients(function, x, parameters):
    """``function(x, parameters)`` and its gradients by x and every parameter, zero if unused."""
    x = x.clone().requires_grad_()
    parameters = {name: value.detach().clone().requires_grad_() for name, value in parameters}
    value = function(x, parameters)
    inputs = {"embeddings": x, **parameters}
    gradients = torch.autograd.grad(value, list(inputs.values()), allow_unused=True)
    filled = [
        torch.zeros_like(tensor) if gradient is None else gradient
        for tensor, gradient in zip(inputs.values(), gradients, strict=True)
    ]
    return value.detach(), dict(zip(inputs, filled, strict=True))


def run(loss, x, labels, *, autocast=None):
    """Value, gradients and active fraction of a prepared loss."""
    x = x.clone().requires_grad_()
    with torch.autocast("cpu", dtype=autocast, enabled=autocast is not None):
        output = loss(Batch.of(x, labels))
    inputs = {"embeddings": x, **dict(loss.named_parameters())}
    gradients = torch.autograd.grad(output.value, list(inputs.values()))
    by_name = dict(zip(inputs, gradients, strict=True))
    return output.value.detach(), by_name, output.active_fraction.detach()


def oracle_of(name):
    return importlib.import_module(f"tests.trainables.losses.oracles.{name}").oracle
