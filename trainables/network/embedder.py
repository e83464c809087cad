"""The network of a trial: a backbone and its head.

B = batch, C = channels, H, W = height and width in pixels, F = features, h, w = of a map, D =
embedding dimension.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from podium.trainables.errors import unknown_name
from podium.trainables.network.backbone_base import Backbone
from podium.trainables.network.fine_tuning import prepare_fine_tuning
from podium.trainables.settings.training_settings import TrainingSettings


class Embedder(nn.Module):
    """Images to embeddings of any length; a `Batch` of a loss normalises them.

    The head is float32 whatever the backbone runs in: it is a thousandth of the work, and
    neighbours differ by little.

    The layer's bias starts at 0, so that an untrained embedding is not one shared direction plus
    a little of the image.

    Args:
        backbone: gives the features.
        embedding_dim: D, at least 1; None for no head: embeddings are the features.
        training: the recipe; it chooses pooling, start, LayerNorm and l2 of the head, and what is
            added to the backbone. Pooling acts on maps only: some networks give one vector.

    Attributes:
        is_normalised: whether embeddings have length 1.

    Raises:
        TrialInputError: the recipe names a pooling or a start that there is not, or asks of the
            backbone what it cannot do.
    """

    def __init__(
        self, backbone: Backbone, embedding_dim: int | None, training: TrainingSettings
    ) -> None:
        super().__init__()
        prepare_fine_tuning(backbone, training)
        self.backbone = backbone
        self._pool = _known("pooling", training.pooling, _POOLINGS)
        start = _known("head_init", training.head_init, _STARTS)
        self._has_layer_norm = training.layer_norm
        self.is_normalised = training.l2
        self._has_head = embedding_dim is not None
        if embedding_dim is None:
            return
        self.embedding = nn.Linear(backbone.num_features, embedding_dim)
        start(self.embedding.weight)
        nn.init.zeros_(self.embedding.bias)

    def forward(self, images_BCHW: Tensor) -> Tensor:
        """Embeddings of shape (B, D), float32, of uint8 images."""
        return self.embed(self.features(images_BCHW))

    def features(self, images_BCHW: Tensor) -> Tensor:
        """What the head embeds: features of shape (B, F), float32, of uint8 images."""
        found = self.backbone(images_BCHW)
        with torch.autocast(found.device.type, enabled=False):
            found = _at_least_float32(found)
            return self._pool(found) if self.backbone.has_map else found

    def embed(self, features_BF: Tensor) -> Tensor:
        """Embeddings of shape (B, D), float32, of what `features` gave."""
        with torch.autocast(features_BF.device.type, enabled=False):
            embeddings_BD = features_BF
            if self._has_head:
                embeddings_BD = self.embedding(self.head_input(features_BF))
            if self.is_normalised:
                embeddings_BD = functional.normalize(embeddings_BD, dim=1)
            return embeddings_BD

    def head_input(self, features_BF: Tensor) -> Tensor:
        """What the embedding layer multiplies: of float32 features what a recipe makes of them."""
        if not self._has_layer_norm:
            return features_BF
        return functional.layer_norm(features_BF, features_BF.shape[1:])


_Function = Callable[[Tensor], Tensor]

# Plain reductions: the gradients of torch's adaptive poolings are not deterministic on CUDA.
_POOLINGS: dict[str, _Function] = {
    "average": lambda map_BFhw: map_BFhw.mean((2, 3)),
    "max": lambda map_BFhw: map_BFhw.amax((2, 3)),
    "average+max": lambda map_BFhw: map_BFhw.mean((2, 3)) + map_BFhw.amax((2, 3)),
}

# Within 1 / sqrt(F), as nn.Linear starts, or normal with variance 2 / D, whatever F is.
_STARTS: dict[str, _Function] = {
    "uniform": lambda weight_DF: weight_DF,
    "kaiming": partial(nn.init.kaiming_normal_, mode="fan_out"),
}


def _known(what: str, name: str, functions: dict[str, _Function]) -> _Function:
    if name not in functions:
        raise unknown_name(what, name, functions)
    return functions[name]


def _at_least_float32(features: Tensor) -> Tensor:
    return features.float() if features.dtype in (torch.bfloat16, torch.float16) else features
