"""The same."""

from pytorch_metric_learning.losses import ProxyAnchorLoss

CASES = ({}, {"alpha": 90.0, "margin": 0.4})


def twin(loss, num_classes, dim):
    theirs = ProxyAnchorLoss(num_classes, dim, **loss.hyperparameters)
    theirs.proxies = loss.proxies
    return theirs
