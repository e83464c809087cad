"""Margin loss (Wu et al. 2017): each distance against a trained boundary, not another distance.

S_BB = cosines, B = batch.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._boundaries import BoundaryLoss, boundaries, mean_open_side
from podium.trainables.losses._pairs import cosines, distances
from podium.trainables.losses._triplets import (
    all_triplets,
    count_pairs,
    mine_triplets,
    num_triplets,
)
from podium.trainables.settings.legal_ranges import Flag, Interval, Parameter, entry_of


class Margin(BoundaryLoss):
    """Positives nearer than a boundary, negatives farther; the boundary of each class is trained.

    (sum over mined triplets of [D_ap - beta_a + margin]+ + [beta_a - D_an + margin]+
    + nu * beta_a) / number of open hinges, where beta_a belongs to the class of the anchor and D
    is the distance of the normalised embeddings.

    Source: Wu et al. 2017, section 4, with the sums of their code; boundaries of single images
    are left out. The triplets are those of distance-weighted sampling by default;
    `SemihardBand` takes the margin for one of cosines. Without an open hinge the value is 0 with
    gradient 0. Psomas 2020, table 4, has a margin of 0.5, and trains beta at a rate of 5e-5;
    `MarginCosine` is his equation.

    Args:
        margin: distance a pair has to keep from the boundary (alpha in the paper).
        beta: distance of the boundary, at first or throughout.
        learn_beta: whether each class trains a boundary of its own. If not, beta is the boundary
            of all, and the loss has no parameters.
        nu: weight of the trained boundaries.
        miner: name of the miner of triplets, a module of `trainables.miners`.
    """

    kind = "triplet"
    source = "Wu et al. 2017, Sampling Matters in Deep Embedding Learning, section 4"
    needs = frozenset({"balanced", "normalised", "proxies"})
    declared = {
        "margin": Parameter(
            0.2, Interval(0.0, 2.0), unit="distance", source="paper (thesis table 4: 0.5)"
        ),
        "beta": Parameter(1.2, Interval(0.0, 2.0), unit="distance", source="paper"),
        "learn_beta": Parameter(True, Flag(), source="paper"),
        "nu": Parameter(0.0, Interval(0.0, 1e3), source="authors' code"),
        "miner": Parameter("distance_weighted", entry_of("miners"), source="paper"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. Active are the open hinges, of two for every triplet there is."""
        margin = hyperparameters["margin"]
        S_BB = cosines(batch)
        candidates = all_triplets(batch, S_BB)
        mined = mine_triplets(candidates, hyperparameters, margin)
        counts = count_pairs(candidates, mined)

        beta_B1 = boundaries(batch, parameters, hyperparameters)
        beyond_BB = distances(2.0 - 2.0 * S_BB) - beta_B1
        output, num_open = mean_open_side(beyond_BB, counts, margin, num_triplets(candidates))
        if not hyperparameters["learn_beta"]:
            return output
        share_B1 = counts[0].sum(1, keepdim=True) / num_open.clamp(min=1.0)
        kept_beta = (share_B1 * beta_B1).sum() * (num_open > 0.0).to(S_BB.dtype)
        return output._replace(value=output.value + hyperparameters["nu"] * kept_beta)
