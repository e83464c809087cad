"""Measures what a step of a loss costs, from what its operations write. B = batch."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Loss
from podium.trainables.registry import load

_STEP_DIM = 128
_PRODUCTS = (torch.ops.aten.mm, torch.ops.aten.bmm, torch.ops.aten.addmm, torch.ops.aten.baddbmm)


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


def step_cost(name: str, *, batch_size: int, num_classes: int) -> StepCost:
    """Cost of a step of a loss, of four samples a class and 128 dimensions."""
    numbers = _step_numbers(name, batch_size, num_classes)
    return StepCost(
        numbers=numbers,
        batch_order=math.log2(_step_numbers(name, 2 * batch_size, num_classes) / numbers),
        class_order=math.log2(_step_numbers(name, batch_size, 2 * num_classes) / numbers),
    )


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
