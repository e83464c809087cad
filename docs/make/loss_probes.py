"""Measures what a loss does, from its values alone: what a pair's weight depends on, and its cost.

B = batch, D = embedding dimension, N = vectors, those of the batch and then those of classes.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.func import grad, vmap
from torch.utils._python_dispatch import TorchDispatchMode

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Loss
from podium.trainables.registry import load

_NUM_CLASSES = 3
_NUM_SAMPLES = 9
_SOURCES = ("self", "positives", "negatives")
_COMMON = (0.0, 0.7, 0.0)  # length of what all vectors of a start have in common,
_OF_CLASS = (0.0, 0.0, 2.0)  # and of what those of a class have
_LEAST_EIGENVALUE = 0.25
_CHANGES = (-0.2, 0.2)  # of one cosine: smaller, so that vectors have such cosines
_LEAST_CHANGE = 1e-9  # of a weight, as a part of the largest one

_STEP_DIM = 128
_PRODUCTS = (torch.ops.aten.mm, torch.ops.aten.bmm, torch.ops.aten.addmm, torch.ops.aten.baddbmm)


@dataclass(frozen=True, slots=True)
class PairWeights:
    """What the weights of pairs depend on: ``self``, ``positives``, ``negatives``.

    The weight of a pair is the gradient of the loss by its cosine (Wang et al. 2019, section 3.1).

    Attributes:
        positive: what moves the weight of a positive pair: its own cosine, or that of another
            positive or negative pair with which it shares a vector.
        negative: the same for a negative pair.
    """

    positive: frozenset[str]
    negative: frozenset[str]


@dataclass(frozen=True, slots=True)
class StepCost:
    """Cost of one forward and backward pass.

    Attributes:
        numbers: numbers that its operations write, products' multiply-adds included.
        batch_order: exponent of the batch size: log2 of the factor at twice the batch.
        class_order: exponent of the number of training classes.
    """

    numbers: int
    batch_order: float
    class_order: float


def has_pair_weights(loss: type[Loss]) -> bool:
    """Whether its value is one of cosines of labelled pairs: rotations change nothing."""
    foreign = {"label_distances", "class_text", "several_views"}
    return "rotation" in loss.invariances and not foreign & loss.needs


def pair_weights(name: str) -> PairWeights:
    """What the weights of a loss's pairs depend on at its published default.

    A loss with several proxies a class has two here. Every cosine of one vector is changed, one at a time, all others staying, in batches of unit
    vectors that are far apart, close and closer; what changed is compared with what was.
    """
    loss, num_vectors = _prepared(name)
    is_positive_N = torch.arange(num_vectors) % _NUM_CLASSES == 0  # beside a vector of class 0
    depends = torch.zeros(2, 3, dtype=torch.bool)
    hubs = [0] if num_vectors == _NUM_SAMPLES else [0, _NUM_SAMPLES]
    for (seed, start), hub in itertools.product(_starts(loss, hubs), hubs):
        cosines_NN = _cosines(num_vectors, start, seed)
        changed_XNN, others_X = _changed(cosines_NN, hub)
        weights_XN = _weights(loss, torch.cat([cosines_NN[None], changed_XNN]))[:, hub]
        before_N, after_XN = weights_XN[0], weights_XN[1:]
        differs_XN = (after_XN - before_N).abs() > _LEAST_CHANGE * before_N.abs().max()
        itself_XN = torch.nn.functional.one_hot(others_X, num_vectors).bool()
        differs_XN[:, hub] = False
        for positive in (False, True):
            of_kind_XN = differs_XN & (is_positive_N == positive)
            beside_XN = of_kind_XN & ~itself_XN
            depends[int(positive)] |= torch.stack(
                [
                    (of_kind_XN & itself_XN).any(),
                    beside_XN[is_positive_N[others_X]].any(),
                    beside_XN[~is_positive_N[others_X]].any(),
                ]
            )
    negative, positive = (
        frozenset(word for word, holds in zip(_SOURCES, row, strict=True) if holds)
        for row in depends.tolist()
    )
    return PairWeights(positive=positive, negative=negative)


def step_cost(name: str, *, batch_size: int, num_classes: int) -> StepCost:
    """Cost of a step of a loss, of four samples a class and 128 dimensions."""
    numbers = _step_numbers(name, batch_size, num_classes)
    return StepCost(
        numbers=numbers,
        batch_order=math.log2(_step_numbers(name, 2 * batch_size, num_classes) / numbers),
        class_order=math.log2(_step_numbers(name, batch_size, 2 * num_classes) / numbers),
    )


def _prepared(name: str) -> tuple[Loss, int]:
    """The loss in as many dimensions as it compares vectors, and their number."""
    loss = _with_parameters(name, _NUM_SAMPLES)
    num_vectors = _NUM_SAMPLES + sum(
        math.prod(value.shape[:-1]) for _, value in _vectors(loss, _NUM_SAMPLES)
    )
    return _with_parameters(name, num_vectors), num_vectors


def _starts(loss: Loss, hubs: Sequence[int]) -> list[tuple[int, int]]:
    """Seeds and starts: many, since few show what a miner leaves out."""
    if not loss.is_vmappable:  # one at a time, which is slow
        return [(0, 2)]
    return list(itertools.product(range(3), range(len(_COMMON))))


def _with_parameters(name: str, dim: int) -> Loss:
    kind: type[Loss] = load("losses", name)
    several = {"centres", "subproxies"} & kind.declared.keys()
    loss = kind(**dict.fromkeys(several, 2))
    loss.prepare(_NUM_CLASSES, dim, torch.Generator().manual_seed(0))
    return loss.double()


def _vectors(loss: Loss, dim: int) -> Iterator[tuple[str, Tensor]]:
    """Parameters that are vectors of classes: shape (..., classes, D)."""
    for name, value in loss.named_parameters():
        if value.ndim >= 2 and value.shape[-1] == dim:
            yield name, value


def _cosines(num_vectors: int, start: int, seed: int) -> Tensor:
    """Cosines of unit vectors. No eigenvalue is below `_LEAST_EIGENVALUE`."""
    generator = torch.Generator().manual_seed(seed)
    own_N3 = torch.randn(num_vectors, 3, generator=generator, dtype=torch.float64)
    classes_N3 = torch.eye(3, dtype=torch.float64)[torch.arange(num_vectors) % _NUM_CLASSES]
    vectors_N3 = own_N3 + _COMMON[start] + _OF_CLASS[start] * classes_N3
    unit_N3 = torch.nn.functional.normalize(vectors_N3, dim=1)
    alone_NN = _LEAST_EIGENVALUE * torch.eye(num_vectors, dtype=torch.float64)
    return (1 - _LEAST_EIGENVALUE) * unit_N3 @ unit_N3.T + alone_NN


def _changed(cosines_NN: Tensor, hub: int) -> tuple[Tensor, Tensor]:
    """The cosines with one of the hub's changed, X times; and whose it is."""
    others_O = torch.tensor([other for other in range(len(cosines_NN)) if other != hub])
    others_X = others_O.repeat_interleave(len(_CHANGES))
    changes_X = torch.tensor(_CHANGES, dtype=torch.float64).repeat(len(others_O))
    rows_X = torch.arange(len(others_X))
    changed_XNN = cosines_NN.repeat(len(others_X), 1, 1)
    changed_XNN[rows_X, hub, others_X] += changes_X
    changed_XNN[rows_X, others_X, hub] += changes_X
    return changed_XNN, others_X


def _weights(loss: Loss, cosines_XNN: Tensor) -> Tensor:
    """Gradients by the cosines of pairs, symmetric, of X sets of N vectors of length 1."""
    generator = torch.Generator().manual_seed(1)
    uniform_BB = torch.rand(_NUM_SAMPLES, _NUM_SAMPLES, generator=generator, dtype=torch.float64)
    gradients = grad(lambda cosines_NN: _value(loss, cosines_NN, uniform_BB))
    if loss.is_vmappable:
        weights_XNN: Tensor = vmap(gradients)(cosines_XNN)
        return weights_XNN
    return torch.stack([gradients(cosines_NN) for cosines_NN in cosines_XNN])


def _value(loss: Loss, cosines_NN: Tensor, uniform_BB: Tensor) -> Tensor:
    vectors_ND = torch.linalg.cholesky((cosines_NN + cosines_NN.T) / 2)
    parameters = dict(loss.named_parameters())
    begin = _NUM_SAMPLES
    for name, value in _vectors(loss, len(vectors_ND)):
        end = begin + math.prod(value.shape[:-1])
        parameters[name] = vectors_ND[begin:end].view(value.shape)
        begin = end
    labels_B = torch.arange(_NUM_SAMPLES) % _NUM_CLASSES
    batch = Batch.of(vectors_ND[:_NUM_SAMPLES], labels_B, uniform_BB=uniform_BB)
    return loss.compute(batch, parameters, loss.hyperparameters).value


def _step_numbers(name: str, batch_size: int, num_classes: int) -> int:
    generator = torch.Generator().manual_seed(0)
    loss: Loss = load("losses", name)()
    loss.prepare(num_classes, _STEP_DIM, generator)
    embeddings_BD = torch.randn(batch_size, _STEP_DIM, generator=generator).requires_grad_()
    labels_B = torch.arange(batch_size) // 4 % num_classes
    places_B = torch.rand(batch_size, generator=generator)
    batch = Batch.of(
        embeddings_BD,
        labels_B,
        uniform_BB=torch.rand(batch_size, batch_size, generator=generator),
        label_distances_BB=(places_B[:, None] - places_B).abs(),
        class_text_BT=torch.randn(num_classes, 8, generator=generator)[labels_B],
        views_BVD=embeddings_BD[:, None] * torch.rand(batch_size, 4, 1, generator=generator),
    )
    written = _Written()
    with written:
        loss(batch).value.backward()  # type: ignore[no-untyped-call]
    return written.numbers


class _Written(TorchDispatchMode):
    """Counts numbers in results of operations that are no views; in products, each product."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        results = func(*args, **(kwargs or {}))
        if not func.is_view:
            several = results if isinstance(results, tuple | list) else (results,)
            inner = args[-1].shape[-2] if func.overloadpacket in _PRODUCTS else 1
            self.numbers += inner * sum(it.numel() for it in several if isinstance(it, Tensor))
        return results
