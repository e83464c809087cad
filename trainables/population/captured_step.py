"""A training step of a population as one CUDA graph.

A step is hundreds of kernels of microseconds each. To name them one by one takes the processor ten
times as long as the GPU takes to compute them; a graph names all at once, and computes the same.
"""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

_FEATURES = "features_BF"


Step = Callable[[Tensor, Mapping[str, Tensor]], Tensor]
"""What trains on a batch, of features (B, F) and what goes with them.

Besides, it reads and writes tensors that stay in place.
"""


class CapturedStep:
    """Calls a step, from its second batch of a shape on as a graph of that shape.

    Args:
        step: waits for no result on the processor, and draws no random numbers.
    """

    def __init__(self, step: Step) -> None:
        self._step = step
        # None: one batch was computed, for which libraries load kernels and take memory.
        self._graphs: dict[tuple[torch.Size, ...], _Graph | None] = {}

    def __call__(self, features_BF: Tensor, beside: Mapping[str, Tensor]) -> Tensor:
        """The step's result, a tensor of its own."""
        given = {_FEATURES: features_BF, **beside}
        shapes = tuple(tensor.shape for tensor in given.values())
        if shapes not in self._graphs:
            self._graphs[shapes] = None
            return self._step(features_BF, beside)
        graph = self._graphs[shapes]
        if graph is None:
            graph = self._graphs[shapes] = _Graph(self._step, given)
        return graph.replay(given)


class _Graph:
    """The kernels of one step, with the tensors that they read a batch from."""

    def __init__(self, step: Step, given: Mapping[str, Tensor]) -> None:
        self._inputs = {name: tensor.clone() for name, tensor in given.items()}
        beside = {name: tensor for name, tensor in self._inputs.items() if name != _FEATURES}
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):  # computes nothing yet
            self._output = step(self._inputs[_FEATURES], beside)

    def replay(self, given: Mapping[str, Tensor]) -> Tensor:
        for name, tensor in self._inputs.items():
            tensor.copy_(given[name])
        self._graph.replay()
        return self._output.clone()
