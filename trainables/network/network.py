"""How images go through a trial's network: its precision, memory format and compilation.

B = batch, C = channels, H, W = height and width in pixels, F = features, D = embedding dimension.
"""

import importlib.util
import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

from podium.trainables.errors import TrialInputError
from podium.trainables.network.embedder import Embedder
from podium.trainables.settings.training_settings import TrainingSettings

# One graph for each shape of input, in training and evaluation, with and without gradients.
_MAX_GRAPHS = 64


class Network:
    """An embedder as the recipe runs it, in training and in evaluation alike.

    Args:
        embedder: on the device; its memory format is set here, its weights stay its own.
        training: the recipe; it chooses precision, memory format and compilation.
        device: device of the embedder.

    Attributes:
        embedder: as given. Its parameters and their names are the same however it is run.

    Raises:
        TrialInputError: ``compile`` is set, and no compiler is installed.
    """

    def __init__(
        self, embedder: Embedder, training: TrainingSettings, device: torch.device
    ) -> None:
        self.embedder = embedder
        self._device = device
        self._is_bf16 = training.precision == "bf16"
        self._format = torch.channels_last if training.channels_last else torch.contiguous_format
        embedder.to(memory_format=self._format)
        self._forward = _compiled(embedder, device) if training.compile else embedder

    def __call__(self, images: Tensor) -> Tensor:
        """Embeddings of shape (B, D), float32 whatever the precision of the network.

        Args:
            images: uint8 of shape (B, C, H, W), or features of shape (B, F).
        """
        with self._autocast():
            embeddings_BD = self._forward(self._in_format(images))
        is_short = embeddings_BD.dtype == torch.bfloat16
        return embeddings_BD.float() if is_short else embeddings_BD

    def features(self, images: Tensor) -> Tensor:
        """What the head embeds, shape (B, F), float32; see `__call__`. Never compiled."""
        with self._autocast():
            return self.embedder.features(self._in_format(images)).float()

    def train(self) -> None:
        """Let BatchNorm and dropout do what they do in training."""
        self.embedder.train()

    def eval(self) -> None:
        """Make an embedding a pure function of its image."""
        self.embedder.eval()

    def _in_format(self, images: Tensor) -> Tensor:
        return images.contiguous(memory_format=self._format) if images.dim() == 4 else images

    def _autocast(self) -> AbstractContextManager[object]:
        if not self._is_bf16:
            return nullcontext()
        return torch.autocast(self._device.type, dtype=torch.bfloat16)


def _compiled(embedder: Embedder, device: torch.device) -> Callable[[Tensor], Tensor]:
    """The same function, compiled anew for each shape.

    Shapes are not generalised: which graph an input goes through would then depend on what came
    before, and a resumed trial would differ from an undisturbed one. For the same reason nothing
    is left of trials that were compiled earlier.
    """
    _assert_can_compile(device)
    torch.compiler.reset()
    compiled = torch.compile(embedder, dynamic=False)
    limits = torch._dynamo.config.patch(
        recompile_limit=_MAX_GRAPHS, fail_on_recompile_limit_hit=True
    )

    def run(images: Tensor) -> Tensor:
        with limits:
            embeddings_BD: Tensor = compiled(images)
        return embeddings_BD

    return run


def _assert_can_compile(device: torch.device) -> None:
    compiler = os.environ.get("CXX", "g++")
    if shutil.which(compiler) is None:
        raise TrialInputError(
            f"training.compile must be false on this machine: {compiler} (a C++ compiler, by the "
            "variable CXX) is not there"
        )
    if device.type == "cuda" and importlib.util.find_spec("triton") is None:
        raise TrialInputError(
            "training.compile must be false on this machine: triton is not installed"
        )
