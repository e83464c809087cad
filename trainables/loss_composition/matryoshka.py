"""A loss summed over prefixes of the embedding. B = batch, D = embedding dimension."""

import torch
from torch.func import functional_call

from podium.trainables.errors import TrialInputError
from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Criterion, LossOutput
from podium.trainables.settings.loss_expression import halves

_PROXIES = "proxies"


class Matryoshka(Criterion):
    """sum over lengths d of L(first d numbers of each embedding), of length 1 again where L asks.

    The lengths are D, D // 2, D // 4 and so on, down to ``smallest_prefix``; each has weight 1.
    ``proxies`` are cut to the same length, so all lengths train one set of them (the paper's
    tied weights, MRL-E). The active fraction is the mean over the lengths.

    Source: Kusupati et al. 2022, Matryoshka Representation Learning, equation 1.

    Args:
        loss: any loss that trains nothing of its own whose last axis is D, but ``proxies``.
        smallest_prefix: the shortest length that may be, at least 1 and at most D // 2.
    """

    def __init__(self, loss: Criterion, *, smallest_prefix: int) -> None:
        super().__init__()
        self.loss = loss
        self.needs, self.is_random = loss.needs, loss.is_random
        self._smallest = smallest_prefix

    def prepare(self, num_classes: int, embedding_dim: int, generator: torch.Generator) -> None:
        """See `Criterion.prepare`.

        Raises:
            TrialInputError: there is no shorter prefix, or a trained parameter cannot be cut.
        """
        self._lengths = halves(embedding_dim, self._smallest)
        self.loss.prepare(num_classes, embedding_dim, generator)
        for name, value in self.loss.named_parameters():
            if name != _PROXIES and value.ndim > 1:
                raise TrialInputError(
                    f"matryoshka: can cut {_PROXIES} of shape (..., {embedding_dim}) to prefixes,"
                    f" but the loss also trains {name} of shape {tuple(value.shape)}"
                )

    def start_epoch(self, epoch: int) -> None:
        """See `Criterion.start_epoch`."""
        self.loss.start_epoch(epoch)

    def forward(self, batch: Batch) -> LossOutput:
        """See `Criterion.forward`."""
        outputs = [self._of_prefix(batch, length) for length in self._lengths]
        values, actives = map(torch.stack, zip(*outputs, strict=True))
        return LossOutput(values.sum(), actives.mean())

    def _of_prefix(self, batch: Batch, length: int) -> LossOutput:
        if length == self._lengths[0]:
            whole: LossOutput = self.loss(batch)
            return whole
        proxies = {
            name: value[..., :length]
            for name, value in self.loss.named_parameters()
            if name == _PROXIES
        }
        output: LossOutput = functional_call(self.loss, proxies, (_prefix(batch, length),))
        return output


def _prefix(batch: Batch, length: int) -> Batch:
    """The batch with embeddings of their first ``length`` numbers."""
    short = Batch.of(batch.embeddings_BD[:, :length], batch.labels_B)
    views_BVD = batch.views_BVD
    return batch._replace(
        embeddings_BD=short.embeddings_BD,
        normalised_BD=short.normalised_BD,
        views_BVD=None if views_BVD is None else views_BVD[..., :length],
    )
