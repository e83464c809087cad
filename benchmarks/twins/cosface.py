"""The same."""

from pytorch_metric_learning.losses import CosFaceLoss

from benchmarks.twins._columns import sharing_columns

CASES = ({}, {"margin": 0.6, "scale": 160.0})


def twin(loss, num_classes, dim):
    theirs = CosFaceLoss(num_classes, dim, **loss.hyperparameters)
    return sharing_columns(theirs, "W", loss.proxies)
