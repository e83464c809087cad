"""The margin is on the positive side there; the default reducer is the mean over anchors."""

from pytorch_metric_learning.distances import CosineSimilarity
from pytorch_metric_learning.losses import GeneralizedLiftedStructureLoss

CASES = ({}, {"margin": -2.0})


def twin(loss, num_classes, dim):
    margin = loss.hyperparameters["margin"]
    return GeneralizedLiftedStructureLoss(
        pos_margin=margin, neg_margin=0.0, distance=CosineSimilarity()
    )
