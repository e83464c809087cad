"""The same, with the temperature 1 / scale; it leaves the embeddings to be normalised."""

from pytorch_metric_learning.losses import NormalizedSoftmaxLoss

from benchmarks.twins._columns import sharing_columns

CASES = ({}, {"scale": 90.0})


def twin(loss, num_classes, dim):
    temperature = 1.0 / loss.hyperparameters["scale"]
    theirs = NormalizedSoftmaxLoss(num_classes, dim, temperature=temperature)
    return sharing_columns(theirs, "W", loss.proxies)
