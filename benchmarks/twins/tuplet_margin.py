"""The same."""

from pytorch_metric_learning.losses import TupletMarginLoss

CASES = ({}, {"margin_degrees": 15.0, "scale": 20.0})


def twin(loss, num_classes, dim):
    hyperparameters = loss.hyperparameters
    return TupletMarginLoss(
        margin=hyperparameters["margin_degrees"], scale=hyperparameters["scale"]
    )
