"""Loss of Nair and Hinton 2010: logistic regression of the kind of a pair on its cosine.

S_BR = cosines, B = batch, R = references.
"""

import torch
from torch import Tensor
from torch.nn.functional import softplus

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._every_pair import mean_of_both_sides
from podium.trainables.losses._pairs import cosines
from podium.trainables.settings.legal_ranges import Interval, Parameter


class ProbabilityDriven(Loss):
    """Cross-entropy of the probability that a pair is positive, given its cosine.

    p = sigmoid(scale * S + offset), with trained numbers ``scale`` and ``offset``;
    mean over positives of -log p + mean over negatives of -log(1 - p).

    Source: Nair and Hinton 2010, on pairs of faces; Duffner et al. 2021. Pairs are summed there;
    here the two sides are averaged apart. The trained numbers learn at the
    proxies' learning rate. Where they start is ours. Every pair is active, and a side without
    pairs is 0 with gradient 0.

    Args:
        initial_scale: initial value of ``scale`` (1/cosine).
        initial_offset: initial value of ``offset``.
    """

    kind = "pair"
    source = (
        "Nair and Hinton 2010, Rectified Linear Units Improve Restricted Boltzmann Machines,"
        " as in Duffner et al. 2021"
    )
    needs = frozenset({"balanced", "normalised", "proxies"})
    declared = {
        "initial_scale": Parameter(10.0, Interval(1e-3, 1e3), unit="1/cosine", source="own"),
        "initial_offset": Parameter(-5.0, Interval(-1e3, 1e3), source="own"),
    }
    takes_references = True

    def make_parameters(
        self, num_classes: int, embedding_dim: int, generator: torch.Generator
    ) -> dict[str, Tensor]:
        """See `Loss.make_parameters`: ``scale`` and ``offset``."""
        starts = {name: self.hyperparameters[f"initial_{name}"] for name in ("scale", "offset")}
        return {name: torch.tensor(x, device=generator.device) for name, x in starts.items()}

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. Hyperparameters act through the parameters they start."""
        pairs = pair_masks(batch)
        log_odds_BR = parameters["scale"] * cosines(batch) + parameters["offset"]
        # -log(1 - p) = softplus(log odds), and -log p the same of the odds against it.
        signed_BR = torch.where(pairs.positive_BR, -log_odds_BR, log_odds_BR)
        return mean_of_both_sides(softplus(signed_BR), pairs)
