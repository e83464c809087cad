"""Softmax loss (Psomas 2020): a linear classifier without bias on embeddings of any length.

B = batch, C = training classes, D = embedding.
"""

import math

import torch
from torch import Tensor

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.losses._classification import classify


class Softmax(Loss):
    """mean over samples of -log(exp(x . w_y) / sum_c exp(x . w_c)), x as the network gave it.

    Source: Psomas 2020, equation 2.26: a linear classifier without bias on top of the embedding,
    dropped after training. Without bias, since retrieval compares directions. It starts as a
    linear layer of torch does, uniform in +-1 / sqrt(D), so that all classes are about as likely.

    Every sample is active; with a single class the value is 0 with gradient 0.
    """

    kind = "proxy"
    source = "Psomas 2020, Metric Learning: A Deep Dive, equation 2.26"
    needs = frozenset({"proxies"})
    invariances = frozenset({"permutation", "rotation"})

    def make_parameters(
        self, num_classes: int, embedding_dim: int, generator: torch.Generator
    ) -> dict[str, Tensor]:
        """See `Loss.make_parameters`: ``proxies``, the rows of the classifier."""
        shape = (num_classes, embedding_dim)
        uniform_CD = torch.rand(shape, generator=generator, device=generator.device)
        return {"proxies": (2.0 * uniform_CD - 1.0) / math.sqrt(embedding_dim)}

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        return classify(batch.embeddings_BD @ parameters["proxies"].T, batch.labels_B)
