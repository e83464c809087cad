"""The same, with its gamma inverted."""

from pytorch_metric_learning.losses import SoftTripleLoss
from pytorch_metric_learning.regularizers import SparseCentersRegularizer

from benchmarks.twins._columns import sharing_columns

CASES = ({}, {"centres": 3, "scale": 78.0, "gamma": 58.0, "margin": 0.4, "tau": 0.4})

# Its guard of the root is the smallest number there is, not 1e-5.
CLOSE = {"rtol": 1e-5, "atol": 1e-6}

# Its regularizer compares every centre with every other: 51 GB of float32 for 11318 classes.
MAX_CLASSES = 1000


def twin(loss, num_classes, dim):
    centres, scale, gamma, margin, tau = loss.hyperparameters.values()
    theirs = SoftTripleLoss(
        num_classes,
        dim,
        centers_per_class=centres,
        la=scale,
        gamma=1.0 / gamma,
        margin=margin,
        weight_regularizer=SparseCentersRegularizer(num_classes, centres),
        weight_reg_weight=tau,
    )
    return sharing_columns(theirs, "fc", loss.proxies)
