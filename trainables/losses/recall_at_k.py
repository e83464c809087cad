"""Recall@K surrogate, RS@K (Patel et al. 2022): Recall@K with sigmoids for ranks and for K.

S_BB = cosines, B = batch, K = numbers of neighbours.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import cosines, masked_mean
from podium.trainables.settings.legal_ranges import Interval, Parameter

# The paper's numbers of neighbours.
_NEIGHBOURS = (1.0, 2.0, 4.0, 8.0, 16.0)


class RecallAtK(Loss):
    """1 - a smooth Recall@K, in the mean over K = 1, 2, 4, 8, 16 and over anchors.

    Recall@K of anchor i = min(K, sum over positives j of sigmoid((K - rank_j) / rank_temperature))
    / min(K, number of positives), rank_j = 1 + sum over other samples k of
    sigmoid((S_ik - S_ij) / temperature).

    Source: Patel et al. 2022, without their mix-up. The authors' code counts
    the anchor among the samples before a positive; here it is no partner of itself, as in
    retrieval. Their batches have 4 images a class and 392 to 4,000 images.

    An anchor without positives or without negatives is left out. Memory grows with B^3.

    Args:
        temperature: cosine over which a comparison tips (tau_2 in the paper).
        rank_temperature: ranks over which K tips (tau_1 in the paper).
    """

    kind = "ranking"
    source = "Patel et al. 2022, Recall@k Surrogate Loss with Large Batches and Similarity Mixup"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "temperature": Parameter(0.01, Interval(1e-4, 10.0), unit="cosine", source="paper"),
        "rank_temperature": Parameter(1.0, Interval(1e-2, 1e2), unit="ranks", source="paper"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. An anchor is active if it has positives and negatives."""
        scaled_BB = cosines(batch) / hyperparameters["temperature"]
        positive_BB, negative_BB = pair_masks(batch)
        partner_BB1 = (positive_BB | negative_BB).to(scaled_BB.dtype)[:, :, None]
        # (anchor, ranked, compared).
        outranks_BBB = (scaled_BB[:, None, :] - scaled_BB[:, :, None]).sigmoid()
        # A positive is among its own comparisons with sigmoid(0) = 0.5, which makes 1 of it.
        rank_BB = (outranks_BBB @ partner_BB1).squeeze(2) + 0.5
        num_positives_B = positive_BB.sum(1).to(scaled_BB.dtype)
        recall_B = scaled_BB.new_zeros(len(scaled_BB))
        for k in _NEIGHBOURS:
            found_BB = ((k - rank_BB) / hyperparameters["rank_temperature"]).sigmoid()
            found_B = found_BB.where(positive_BB, 0.0).sum(1).clamp(max=k)
            recall_B = recall_B + found_B / num_positives_B.clamp(1.0, k) / len(_NEIGHBOURS)
        active_B = positive_BB.any(1) & negative_BB.any(1)
        return LossOutput(masked_mean(1.0 - recall_B, active_B), active_B.sum() / len(active_B))
