"""Margin loss of Psomas 2020: as `margin`, with the boundary on cosines, not on distances.

S_BB = cosines, B = batch.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._boundaries import BoundaryLoss, boundaries, mean_open_side
from podium.trainables.losses._pairs import cosines
from podium.trainables.losses._triplets import (
    all_triplets,
    count_pairs,
    mine_triplets,
    num_triplets,
)
from podium.trainables.settings.legal_ranges import Flag, Interval, Parameter, entry_of


class MarginCosine(BoundaryLoss):
    """Positives more similar than a boundary, negatives less; each class trains its boundary.

    mean over mined triplets of the open hinges [margin + beta_a - S_ap]+ and
    [margin + S_an - beta_a]+, where beta_a belongs to the class of the anchor.

    Source: Psomas 2020, equation 2.23, [margin + t (beta - S)]+ with t = 1 for positives and -1
    for negatives. He prints an indicator of 0 or 1 in place of t, by which each negative would
    cost the margin and have no gradient. The mean and the mining are those of `Margin`; there is
    no term on the boundaries. Without an open hinge the value is 0 with gradient 0.

    The defaults are his table 4. A boundary of 1.2 is above all cosines: all positives are pulled,
    and negatives pushed above a cosine of 0.7.

    Args:
        margin: cosine a pair has to keep from the boundary (lambda in the thesis).
        beta: cosine of the boundary, at first or throughout.
        learn_beta: whether each class trains a boundary of its own. If not, beta is the boundary
            of all, and the loss has no parameters.
        miner: name of the miner of triplets, a module of `trainables.miners`.
    """

    kind = "triplet"
    source = (
        "Psomas 2020, Metric Learning: A Deep Dive, equation 2.23 with signs for its indicator"
    )
    needs = frozenset({"balanced", "normalised", "proxies"})
    declared = {
        "margin": Parameter(0.5, Interval(0.0, 2.0), unit="cosine", source="thesis table 4"),
        "beta": Parameter(1.2, Interval(-2.0, 2.0), unit="cosine", source="thesis table 4"),
        "learn_beta": Parameter(True, Flag(), source="thesis: table 4 has a learning rate of it"),
        "miner": Parameter("distance_weighted", entry_of("miners"), source="thesis table 5"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. Active are the open hinges, of two for every triplet there is."""
        margin = hyperparameters["margin"]
        S_BB = cosines(batch)
        candidates = all_triplets(batch, S_BB)
        mined = mine_triplets(candidates, hyperparameters, margin)
        beyond_BB = boundaries(batch, parameters, hyperparameters) - S_BB
        counts = count_pairs(candidates, mined)
        return mean_open_side(beyond_BB, counts, margin, num_triplets(candidates))[0]
