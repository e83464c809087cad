"""Its ProxyNCALoss is ProxyNCA++: log(exp(loss) - 1) takes the own class out of the sum."""

from pytorch_metric_learning.losses import ProxyNCALoss
from pytorch_metric_learning.reducers import DoNothingReducer

CASES = ({}, {"scale": 8.0})


def twin(loss, num_classes, dim):
    scale = loss.hyperparameters["scale"]
    theirs = ProxyNCALoss(num_classes, dim, softmax_scale=scale, reducer=DoNothingReducer())
    theirs.proxies = loss.proxies
    return lambda x_BD, labels_B: theirs(x_BD, labels_B)["loss"]["losses"].expm1().log().mean()
