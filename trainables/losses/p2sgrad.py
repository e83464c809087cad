"""P2SGrad (Zhang et al. 2019): the cosines to all proxies regress on 1 for the own, 0 for others.

S_BC = cosines to proxies, B = batch, C = training classes.
"""

from torch.nn.functional import one_hot

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._proxies import proxy_cosines
from podium.trainables.losses._proxy_loss import ProxyLoss


class P2SGrad(ProxyLoss):
    """mean over samples of 1/2 sum_c (S_c - 1[c = y])^2.

    Source: Zhang et al. 2019 state the gradient only, equation 11: sum_c (S_c - 1[c = y]) times
    the gradient of S_c, in which no probability and no scale is left. This is the function that
    has it. pytorch-metric-learning divides by the number of classes instead of 2, which the step
    sizes of Adam do not see.

    Every sample is active. With a single class only the pull to its proxy is left.
    """

    kind = "proxy"
    source = "Zhang et al. 2019, P2SGrad: Refined Gradients for Optimizing Deep Face Models"
    needs = frozenset({"normalised", "proxies"})

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        S_BC = proxy_cosines(batch.normalised_BD, parameters["proxies"])
        targets_BC = one_hot(batch.labels_B, S_BC.shape[1])
        value = 0.5 * (S_BC - targets_BC).square().sum(1).mean()
        return LossOutput(value, value.new_ones(()))
