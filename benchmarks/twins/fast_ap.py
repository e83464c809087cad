"""The same."""

from pytorch_metric_learning.losses import FastAPLoss

CASES = ({}, {"bins": 37})


def twin(loss, num_classes, dim):
    return FastAPLoss(num_bins=loss.hyperparameters["bins"])
