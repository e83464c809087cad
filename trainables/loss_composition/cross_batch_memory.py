"""A cross-batch memory around a pair loss. M = size of the memory, D = embedding dimension."""

import torch
from torch import Tensor
from torch.nn.functional import normalize

from podium.trainables.errors import TrialInputError
from podium.trainables.loss_composition.batch import Batch, References
from podium.trainables.loss_composition.loss_base import Criterion, Loss, LossOutput


class CrossBatchMemory(Criterion):
    """L(batch against itself) + memory_weight * L(batch against the memory).

    The memory holds the last ``memory_size`` embeddings of earlier steps, without gradient: a
    network drifts slowly, so they are still close to where samples lie. It never holds the batch
    that is compared with it. Before ``memory_start_epoch`` the loss is the pair loss alone.

    Source: Wang et al. 2020, Cross-Batch Memory for Embedding Learning, algorithm 1, whose memory
    already holds the current batch.

    Args:
        loss: a pair loss that takes references.
        memory_size: M, at least 1.
        memory_weight: weight of the term on the memory, at least 0; 0 is the loss alone.
        memory_start_epoch: first epoch in which the memory counts, at least 1.

    Raises:
        TrialInputError: the loss compares within a batch only.
    """

    def __init__(
        self, loss: Loss, *, memory_size: int, memory_weight: float, memory_start_epoch: int
    ) -> None:
        super().__init__()
        if not loss.takes_references:
            raise TrialInputError(
                f"{type(loss).__name__} compares within a batch only and cannot use a memory"
            )
        self.loss = loss
        self.needs, self.is_random = loss.needs, loss.is_random
        self._size = memory_size
        self._weight = memory_weight
        self._start_epoch = memory_start_epoch
        self._epoch = 1
        self.embeddings_MD: Tensor
        self.labels_M: Tensor
        self.place: Tensor

    def prepare(self, num_classes: int, embedding_dim: int, generator: torch.Generator) -> None:
        """See `Criterion.prepare`."""
        self.loss.prepare(num_classes, embedding_dim, generator)
        self.register_buffer("embeddings_MD", torch.zeros(self._size, embedding_dim))
        self.register_buffer("labels_M", torch.full((self._size,), -1))
        self.register_buffer("place", torch.zeros((), dtype=torch.int64))

    def start_epoch(self, epoch: int) -> None:
        """See `Criterion.start_epoch`."""
        self._epoch = epoch

    def forward(self, batch: Batch) -> LossOutput:
        """See `Criterion.forward`. The active fraction is that of the batch itself."""
        batch = batch.at_least_float32()
        output: LossOutput = self.loss(batch)
        if self._epoch >= self._start_epoch:
            # A copy: the memory changes before the gradient is computed.
            x_MD = self.embeddings_MD.clone()
            memory = References(x_MD, normalize(x_MD, dim=1), self.labels_M.clone())
            remembered: LossOutput = self.loss(batch._replace(references=memory))
            output = output._replace(value=output.value + self._weight * remembered.value)
        self._remember(batch)
        return output

    @torch.no_grad()
    def _remember(self, batch: Batch) -> None:
        """Overwrite the oldest samples; of a batch larger than the memory its end stays."""
        x_BD = batch.embeddings_BD.detach()[-self._size :].to(self.embeddings_MD.dtype)
        places_B = (self.place + torch.arange(len(x_BD), device=x_BD.device)) % self._size
        self.embeddings_MD.index_copy_(0, places_B, x_BD)
        self.labels_M.index_copy_(0, places_B, batch.labels_B[-self._size :])
        self.place.add_(len(x_BD)).remainder_(self._size)
