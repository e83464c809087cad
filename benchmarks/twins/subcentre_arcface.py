"""The same; its margin is in degrees too."""

from pytorch_metric_learning.losses import SubCenterArcFaceLoss

from benchmarks.twins._columns import sharing_columns

CASES = ({}, {"centres": 2, "margin_degrees": 70.0, "scale": 20.0})


def twin(loss, num_classes, dim):
    centres, margin, scale = loss.hyperparameters.values()
    theirs = SubCenterArcFaceLoss(
        num_classes=num_classes,
        embedding_size=dim,
        margin=margin,
        scale=scale,
        sub_centers=centres,
    )
    return sharing_columns(theirs, "W", loss.proxies)
