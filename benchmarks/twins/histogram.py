"""The same, unless images are alone in their classes: pairs of such are left out there.

Its nodes are rounded to float32, so they are compared where that changes nothing.
"""

import warnings

from pytorch_metric_learning.losses import HistogramLoss

CASES = ({"bins": 64}, {"bins": 128})


def twin(loss, num_classes, dim):
    theirs = HistogramLoss(n_bins=loss.hyperparameters["bins"])

    def quietly(x_BD, labels_B):
        with warnings.catch_warnings():
            # It indexes by lists, which torch puts up with but does not like.
            warnings.filterwarnings("ignore", "Using a non-tuple sequence", UserWarning)
            return theirs(x_BD, labels_B)

    return quietly
