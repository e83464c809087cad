"""The network of a trial: a backbone and its head.

B = batch, C = channels, H, W = height and width in pixels, F = features, D = embedding dimension.
"""

from torch import Tensor, nn

from trainables.backbones._base import Backbone
from trainables.settings import TrainingSettings

__all__ = ["Embedder"]


class Embedder(nn.Module):
    """Images to embeddings of any length; `trainables.batch.Batch` normalises them.

    The layer's bias starts at 0, so that an untrained embedding is not one shared direction plus
    a little of the image.

    Args:
        backbone: gives the features.
        embedding_dim: D, at least 1.
        training: the recipe; it chooses pooling, start, LayerNorm and l2 of the head.
    """

    def __init__(self, backbone: Backbone, embedding_dim: int, training: TrainingSettings) -> None:
        super().__init__()
        self.backbone = backbone
        self.embedding = nn.Linear(backbone.num_features, embedding_dim)
        nn.init.zeros_(self.embedding.bias)

    def forward(self, images_BCHW: Tensor) -> Tensor:
        """Embeddings of shape (B, D) of uint8 images."""
        embeddings_BD: Tensor = self.embedding(self.backbone(images_BCHW))
        return embeddings_BD
