"""Histogram loss (Ustinova and Lempitsky 2016): overlap of positive and negative cosines.

S_BR = cosines, B = batch, R = references, N = nodes.
"""

from torch import Tensor

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import PairMasks, pair_masks
from podium.trainables.losses._histograms import node_shares, soft_histograms
from podium.trainables.losses._pairs import cosines
from podium.trainables.settings.legal_ranges import Parameter, Whole


class Histogram(Loss):
    """The probability that a random negative pair is more similar than a random positive pair.

    Cosines, from -1 to 1, are counted at ``bins`` + 1 nodes, each shared by the two it lies
    between; h+ and h- are the histograms of all positive and of all negative pairs, each of sum 1.
    The loss is sum over nodes r of h-_r * (h+_1 + ... + h+_r).

    Source: Ustinova and Lempitsky 2016. Without positives or without negatives the loss is 0 with
    gradient 0.

    Where the two histograms do not touch no gradient is left, even if every negative pair is the
    more similar one: the value is then 1, as the paper's is.

    Args:
        bins: intervals of the cosine; the paper's number of nodes less 1.
    """

    kind = "pair"
    source = "Ustinova and Lempitsky 2016, Learning Deep Embeddings with Histogram Loss"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "bins": Parameter(100, Whole(1, 1000), unit="intervals", source="pytorch-metric-learning")
    }
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A pair is active if it counts where the other kind is in order."""
        bins = hyperparameters["bins"]
        pairs = pair_masks(batch)
        lower_BR, share_BR = node_shares((1.0 + cosines(batch)) * (bins / 2.0), bins)
        positive_BN, negative_BN = soft_histograms(lower_BR, share_BR, pairs, bins)
        num_positives, num_negatives = pairs.positive_BR.sum(), pairs.negative_BR.sum()
        less_similar_N = positive_BN.sum(0).cumsum(0) / num_positives.clamp(min=1)
        negative_N = negative_BN.sum(0) / num_negatives.clamp(min=1)
        active = _num_overlapping(lower_BR, pairs) / (num_positives + num_negatives).clamp(min=1)
        return LossOutput((negative_N * less_similar_N).sum(), active)


def _num_overlapping(lower_BR: Tensor, pairs: PairMasks) -> Tensor:
    """How many pairs the value is made of: negatives above a positive, positives below a negative.

    Above and below in terms of nodes. It is 0 only where the value is.
    """
    past_the_end = lower_BR.new_full((), 1 << 30)
    lowest_positive = lower_BR.where(pairs.positive_BR, past_the_end).amin()
    highest_negative = (lower_BR + 1).where(pairs.negative_BR, -past_the_end).amax()
    negatives = pairs.negative_BR & (lower_BR + 1 >= lowest_positive)
    positives = pairs.positive_BR & (lower_BR <= highest_negative)
    return negatives.sum() + positives.sum()
