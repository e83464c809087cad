"""Contrastive loss on cosines. S_BB = cosines, B = batch, D = embedding dimension."""

from collections.abc import Mapping

from torch import Tensor

from trainables.losses._base import Batch, Loss, LossOutput, check_range
from trainables.losses._pairs import cosines, masked_mean
from trainables.miners._base import pair_masks

__all__ = ["Contrastive"]


class Contrastive(Loss):
    """mean over negatives with S > margin of (S - margin), minus mean over positives of S.

    Source: Hadsell et al. 2006 in the cosine form of Psomas 2020, equation 2.15, whose sums are
    means here so that the value does not grow with the batch. Negatives that already lie below
    the margin are not counted: as training goes on nearly all do, and would dilute the rest (on
    glyphs Recall@1 is 0.66 so, 0.57 with the plain sums and 0.49 with a mean over all negatives,
    each at its best learning rate and margin of a small grid).

    Without positives, or without negatives above the margin, that side is 0 with gradient 0.

    Args:
        margin: cosine above which a negative is pushed away, in [-1, 1].
    """

    needs = frozenset({"balanced", "normalised"})
    invariances = frozenset({"permutation", "rotation", "scale"})
    is_vmappable = True

    def __init__(self, *, margin: float = 0.5) -> None:
        super().__init__(margin=margin)

    @staticmethod
    def validate(*, margin: float) -> None:
        """See `Loss.validate`."""
        check_range("margin", margin, -1.0, 1.0)

    @staticmethod
    def compute(
        batch: Batch,
        parameters: Mapping[str, Tensor],
        hyperparameters: Mapping[str, float | Tensor],
    ) -> LossOutput:
        """See `Loss.compute`. A positive is always active, a negative above the margin."""
        S_BB = cosines(batch.normalised_BD)
        positive_BB, negative_BB = pair_masks(batch.labels_B)
        above_BB = S_BB - hyperparameters["margin"]
        active_BB = negative_BB & (above_BB > 0.0)
        value = masked_mean(above_BB, active_BB) - masked_mean(S_BB, positive_BB)
        num_pairs = positive_BB.sum() + negative_BB.sum()
        num_active = positive_BB.sum() + active_BB.sum()
        return LossOutput(value, num_active / num_pairs.clamp(min=1))
