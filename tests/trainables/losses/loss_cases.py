"""Batches, hyperparameters and gradients for the tests that run over all losses."""

import importlib
import itertools

import numpy as np
import torch

from podium.orchestrator.study.loss_facts import facts_of
from podium.search_spaces.parameters import Choice, Int
from podium.trainables.loss_composition.batch import Batch
from podium.trainables.registry import load, names

LOSSES = names("losses")
DIM = 8
NUM_VIEWS = 4
TEXT_DIM = 5
MAX_CORNERS = 4


def prepared_loss(name, *, num_classes, dim=DIM, dtype=torch.float32, seed=1, **hyperparameters):
    loss = load("losses", name)(**hyperparameters)
    loss.prepare(num_classes, dim, torch.Generator().manual_seed(seed))
    return loss.to(dtype)


def embeddings(num_rows, *, dim=DIM, dtype=torch.float32, seed=0):
    return torch.randn(num_rows, dim, generator=torch.Generator().manual_seed(seed)).to(dtype)


def on_circle(*degrees):
    """Unit vectors of the plane at these angles."""
    angles = torch.tensor(degrees, dtype=torch.float64).deg2rad()
    return torch.stack([angles.cos(), angles.sin()], dim=1)


def balanced_labels(num_classes=6, samples_per_class=4):
    return torch.arange(num_classes).repeat_interleave(samples_per_class)


def labelled_batches(num_classes=6, samples_per_class=4):
    """Name -> (embeddings, labels, number of classes): what a sampler may hand to a loss."""
    n = num_classes * samples_per_class
    balanced = balanced_labels(num_classes, samples_per_class)
    x = embeddings(n)
    duplicated = x.clone()
    duplicated[1] = duplicated[0]  # within a class
    duplicated[-1] = duplicated[0]  # across classes
    half = torch.arange(n // 2)
    unbalanced = torch.tensor([0] * (n // 2 - 1) + [1] * 2 + [2] * (n // 4) + [3] * n)[:n]
    return {
        "balanced": (x, balanced, num_classes),
        "unbalanced": (x, unbalanced, num_classes),
        "long embeddings": (x * torch.arange(1.0, n + 1.0)[:, None], balanced, num_classes),
        "clustered": (embeddings(num_classes, seed=5)[balanced] + 0.3 * x, balanced, num_classes),
        "duplicates": (duplicated, balanced, num_classes),
        "no positives": (x, torch.arange(n), n),
        "singletons beside pairs": (x, torch.cat([half, half[: n // 4], half[: n // 4]]), n // 2),
        "one class": (x, torch.zeros(n, dtype=torch.int64), 1),
        "one class of many": (x, torch.full((n,), 3), num_classes),
        "one sample": (x[:1], torch.zeros(1, dtype=torch.int64), 2),
    }


BATCHES = labelled_batches()
# For loops over triplets and pairs of pairs.
SMALL_BATCHES = labelled_batches(num_classes=4, samples_per_class=3)


def full_batch(x, labels, *, order=None):
    """A batch with all that any loss may need; ``order`` permutes what belongs to the samples."""
    num_rows = len(x)
    generator = np.random.default_rng(11)  # torch's do not work under vmap

    def as_tensor(values):  # what comes beside the embeddings is not in half precision
        return torch.from_numpy(values).to(torch.promote_types(x.dtype, torch.float32))

    places = as_tensor(generator.random(num_rows))
    text = as_tensor(generator.normal(size=(100, TEXT_DIM)))
    shifts = as_tensor(generator.normal(size=(num_rows, NUM_VIEWS, x.shape[1])))
    extras = {
        "uniform_BB": as_tensor(generator.random((num_rows, num_rows))),
        "label_distances_BB": (places[:, None] - places).abs(),
        "class_text_BT": text[labels],
        "views_BVD": x[:, None, :] + 0.3 * shifts,
    }
    if order is None:
        return Batch.of(x, labels, **extras)
    extras = {name: value[order] for name, value in extras.items()}
    extras = {name: v[:, order] if name.endswith("_BB") else v for name, v in extras.items()}
    return Batch.of(x[order], labels[order], **extras)


def own_ranges(name):
    """The joint space without the parameters of training."""
    facts = facts_of(name)
    tried = facts.spaces["joint"].parameters
    return {key: value for key, value in tried.items() if key in facts.parameters}


def corners(name):
    """Combinations of the ends of the joint space's ranges: all of them, if they are few."""
    ranges = own_ranges(name)
    ends = list(itertools.product(*(tried.ends() for tried in ranges.values())))
    stride = -(-len(ends) // MAX_CORNERS) | 1  # odd, so that every range has both its ends
    some = [*ends[::stride], ends[-1]]
    return [{**facts_of(name).defaults, **dict(zip(ranges, point, strict=True))} for point in some]


def points_between(name, *, num_points, seed=0):
    """Points inside the joint space, the published default first."""
    generator = torch.Generator().manual_seed(seed)
    points = [facts_of(name).defaults]
    for at in range(num_points - 1):
        point = dict(points[0])
        if "form" in point and at % 2 == 0:
            point["form"] = "printed"
        for parameter, tried in own_ranges(name).items():
            share = torch.rand((), generator=generator).item()
            point[parameter] = value_at(tried, share)
        points.append(point)
    return points


def value_at(tried, share):
    """The value at ``share``, 0 to 1, of the way through a range."""
    if isinstance(tried, Choice):
        return tried.values[int(share * len(tried.values))]
    low, high = tried.ends()
    value = low * (high / low) ** share if tried.log else low + share * (high - low)
    return round(value) if isinstance(tried, Int) else value


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


def run(loss, x, labels, *, autocast=None, order=None):
    """Value, gradients and active fraction of a prepared loss."""
    x = x.clone().requires_grad_()
    with torch.autocast("cpu", dtype=autocast, enabled=autocast is not None):
        output = loss(full_batch(x, labels, order=order))
    inputs = {"embeddings": x, **dict(loss.named_parameters())}
    gradients = torch.autograd.grad(output.value, list(inputs.values()), materialize_grads=True)
    by_name = dict(zip(inputs, gradients, strict=True))
    return output.value.detach(), by_name, output.active_fraction.detach()


def oracle_of(name):
    return importlib.import_module(f"tests.trainables.losses.oracles.{name}").oracle
