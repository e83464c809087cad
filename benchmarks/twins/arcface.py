"""The same; its margin is in degrees too."""

from pytorch_metric_learning.losses import ArcFaceLoss

from benchmarks.twins._columns import sharing_columns

CASES = ({}, {"margin_degrees": 80.0, "scale": 20.0})


def twin(loss, num_classes, dim):
    margin, scale = loss.hyperparameters.values()
    theirs = ArcFaceLoss(num_classes, dim, margin=margin, scale=scale)
    return sharing_columns(theirs, "W", loss.proxies)
