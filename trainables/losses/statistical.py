"""Statistical loss (Chen and Salman 2011): compares mean and covariance of an image's views.

B = batch, V = views, D = embedding dimension.
"""

import torch
from torch import Tensor
from torch.nn.functional import normalize

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._every_pair import mean_of_both_sides
from podium.trainables.losses._pairs import squared_distances
from podium.trainables.settings.legal_ranges import Interval, Parameter


class Statistical(Loss):
    """Compares mean and covariance of an image's views with those of another image.

    D_m = |mu_i - mu_j|^2 and D_s = |Sigma_i - Sigma_j|^2 (Frobenius);
    mean over positives of D_m + D_s
    + mean over negatives of exp(-D_m / mean_scale) + exp(-D_s / covariance_scale).

    mu and Sigma (divided by V - 1) are of the normalised embeddings of the views; with one view
    Sigma is 0.

    Source: Chen and Salman 2011. The vectors there are those of the windows of a recording, and
    are not normalised: its scales do not carry over. The defaults are ours, the best of a grid of
    3 x 4 on the validation classes of glyphs with one seed. Duffner et al. 2021 print the formula
    with t = 1 for a negative. Pairs are summed there; here the two sides are averaged apart. Every
    pair is active.

    A rotation of all views, or a change of their lengths, leaves the value as it is.

    Args:
        mean_scale: squared distance of the means at which the push on a negative has faded to
            1 / e.
        covariance_scale: the same for the covariances.
    """

    kind = "pair"
    source = (
        "Chen and Salman 2011, Extracting Speaker-Specific Information with a Regularized"
        " Siamese Deep Network"
    )
    needs = frozenset({"balanced", "normalised", "several_views"})
    declared = {
        "mean_scale": Parameter(0.3, Interval(1e-4, 1e4), unit="squared distance", source="own"),
        "covariance_scale": Parameter(
            1.0, Interval(1e-4, 1e4), unit="squared distance", source="own"
        ),
    }
    invariances = frozenset({"permutation"})

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        assert batch.views_BVD is not None
        z_BVD = normalize(batch.views_BVD, dim=2)
        mean_BD = z_BVD.mean(1)
        of_means_BB = squared_distances(mean_BD, mean_BD)
        of_covariances_BB = _covariance_distances(z_BVD - mean_BD[:, None, :])
        pull_BB = of_means_BB + of_covariances_BB
        push_BB = torch.exp(-of_means_BB / hyperparameters["mean_scale"])
        push_BB = push_BB + torch.exp(-of_covariances_BB / hyperparameters["covariance_scale"])
        pairs = pair_masks(batch)
        return mean_of_both_sides(torch.where(pairs.positive_BR, pull_BB, push_BB), pairs)


def _covariance_distances(centred_BVD: Tensor) -> Tensor:
    """Squared Frobenius distance of every covariance to every other, without forming a (D, D).

    The inner product of two covariances is the sum of the squared products of the centred views.
    """
    num_samples, num_views, _ = centred_BVD.shape
    flat_ND = centred_BVD.flatten(0, 1)
    products_BVBV = (flat_ND @ flat_ND.T).view(num_samples, num_views, num_samples, num_views)
    inner_BB = products_BVBV.square().sum((1, 3)) / max(1, num_views - 1) ** 2
    squares_B = inner_BB.diagonal()
    return (squares_B[:, None] + squares_B - 2.0 * inner_BB).clamp(min=0.0)
