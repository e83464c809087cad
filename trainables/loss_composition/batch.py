"""What a loss sees of one training step.

B = batch, D = embedding dimension, R = references, T = length of a text vector,
V = views of an image.
"""

from typing import NamedTuple

import torch
from torch import Tensor

# A shorter embedding has no direction. Divided by this it would get a gradient a million million
# times that of the others, which no optimiser recovers from soon.
_SHORTEST = 1e-12


# Named tuples, since torch.func.vmap takes and returns them.
class References(NamedTuple):
    """Samples that replace the batch as partners of its anchors; no gradient reaches them.

    Attributes:
        embeddings_RD: as the network gave them.
        normalised_RD: the same with length 1.
        labels_R: int64 training classes; -1 marks an empty position.
    """

    embeddings_RD: Tensor
    normalised_RD: Tensor
    labels_R: Tensor


class Batch(NamedTuple):
    """One training step. What a loss does not name in its ``needs`` may be None.

    Attributes:
        embeddings_BD: as the network gave them, of any length.
        normalised_BD: the same with length 1.
        labels_B: int64 training classes, 0 to num_classes - 1 (a proxy loss indexes by them).
        references: partners of the anchors, if they are not the batch itself.
        uniform_BB: independent numbers in [0, 1), the randomness of a loss that samples.
        label_distances_BB: distances of labels, at least 0, symmetric, 0 on the diagonal.
        class_text_BT: a vector for the name of each sample's class.
        views_BVD: embeddings of several views of each image, of any length.
    """

    embeddings_BD: Tensor
    normalised_BD: Tensor
    labels_B: Tensor
    references: References | None = None
    uniform_BB: Tensor | None = None
    label_distances_BB: Tensor | None = None
    class_text_BT: Tensor | None = None
    views_BVD: Tensor | None = None

    @classmethod
    def of(
        cls, embeddings_BD: Tensor, labels_B: Tensor, **more: Tensor | References | None
    ) -> "Batch":
        """Normalise in float32 or better, whatever the autocast.

        A zero embedding stays zero and gets no gradient by its direction.
        """
        with torch.autocast(embeddings_BD.device.type, enabled=False):
            embeddings_BD = _at_least_float32(embeddings_BD)
            lengths_B1 = torch.linalg.vector_norm(embeddings_BD, dim=1, keepdim=True)
            normalised_BD = embeddings_BD / lengths_B1.where(lengths_B1 > _SHORTEST, torch.inf)
        return cls(embeddings_BD, normalised_BD, labels_B, **more).at_least_float32()  # type: ignore[arg-type]

    def at_least_float32(self) -> "Batch":
        """The batch with its embeddings in float32 or better."""
        views_BVD = self.views_BVD
        return self._replace(
            embeddings_BD=_at_least_float32(self.embeddings_BD),
            normalised_BD=_at_least_float32(self.normalised_BD),
            views_BVD=None if views_BVD is None else _at_least_float32(views_BVD),
        )


def _at_least_float32(values: Tensor) -> Tensor:
    return values.float() if values.dtype in (torch.float16, torch.bfloat16) else values
