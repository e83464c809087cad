"""The same, given unit vectors: the negatives are not normalised there."""

from pytorch_metric_learning.losses import AngularLoss
from torch.nn.functional import normalize

CASES = ({}, {"angle_degrees": 35.0})


def twin(loss, num_classes, dim):
    theirs = AngularLoss(alpha=loss.hyperparameters["angle_degrees"])
    return lambda x_BD, labels_B: theirs(normalize(x_BD, dim=1), labels_B)
