"""CUDA tensors on machines without CUDA: devices, shapes and types are real, numbers are not.

An operation on tensors of two devices raises as on a GPU. So does what would make the CPU wait
for numbers: `Tensor.item`, and shapes that depend on them.
"""

import torch
from torch import nn
from torch._subclasses import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

CUDA = torch.device("cuda:0")

# https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
REFUSED_BACKWARD = (
    "AvgPool3D",
    "AdaptiveAvgPool",
    "AdaptiveMaxPool",
    "FractionalMaxPool",
    "UpsampleLinear",
    "UpsampleBilinear",
    "UpsampleBicubic",
    "UpsampleTrilinear",
    "ReflectionPad",
    "CtcLoss",
    "EmbeddingBag",
    "GridSampler",
)
REFUSED = (
    "aten::max_unpool",
    "aten::nll_loss2d",
    "aten::ctc_loss",
    "aten::put",
    "aten::histc",
    "aten::bincount",
    "aten::median.dim",
    "aten::nanmedian.dim",
    "aten::scatter_reduce",
    "aten::index_reduce",
    "aten::kthvalue",
)


class WithoutCuda:
    """Makes fake CUDA tensors, and runs functions on them.

    Attributes:
        operations: what ran, by its name in torch.
        waits: copies from the CPU that make it wait until the GPU has done all before.
    """

    def __init__(self):
        self._mode = FakeTensorMode(allow_non_fake_inputs=True)
        self.operations = set()
        self.waits = []

    def tensor(self, like):
        """A tensor of the same shape and type."""
        with torch.no_grad():
            return FakeTensor(self._mode, like.detach().to("meta"), CUDA)

    def module(self, module):
        """The same module, its parameters and buffers moved."""
        for part in module.modules():
            for name, weight in part._parameters.items():
                if weight is not None:
                    moved = nn.Parameter(self.tensor(weight), requires_grad=weight.requires_grad)
                    part._parameters[name] = moved
            for name, buffer in part._buffers.items():
                if buffer is not None:
                    part._buffers[name] = self.tensor(buffer)
        return module

    def run(self, function, *arguments):
        """What the function gives."""
        with _Watched(self), self._mode:
            return function(*arguments)

    def refused(self, *results):
        """What torch would refuse so far and in the backward pass from ``results``."""
        backward = {node.name() for result in results for node in _nodes(result.grad_fn)}
        return sorted(
            {name for name in self.operations if name.startswith(REFUSED)}
            | {name for name in backward if name.startswith(REFUSED_BACKWARD)}
        )


class _Watched(TorchDispatchMode):
    def __init__(self, owner):
        super().__init__()
        self._owner = owner

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        result = function(*args, **kwargs)
        name = function._schema.name
        self._owner.operations.add(f"{name}.{function._overloadname}".removesuffix(".default"))
        if name == "aten::_to_copy":
            is_across = args[0].device.type != result.device.type
            if is_across and not kwargs.get("non_blocking"):
                self._owner.waits.append(f"{tuple(args[0].shape)} to {result.device.type}")
        return result


def _nodes(start):
    seen, ahead = set(), [start]
    while ahead:
        node = ahead.pop()
        if node is not None and node not in seen:
            seen.add(node)
            ahead += [following for following, _ in node.next_functions]
    return seen
