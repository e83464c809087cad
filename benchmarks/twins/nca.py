"""The same; its probability underflows where ours does not, far above this scale."""

from pytorch_metric_learning.losses import NCALoss

CASES = ({}, {"softmax_scale": 16.0})


def twin(loss, num_classes, dim):
    return NCALoss(**loss.hyperparameters)
