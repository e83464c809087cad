"""The same, given the triplets of the same miner."""

from pytorch_metric_learning.distances import LpDistance
from pytorch_metric_learning.losses import TripletMarginLoss

from benchmarks.twins._miners import DETERMINISTIC, twin_miner

CASES = tuple({"margin": 0.3, "miner": miner} for miner in DETERMINISTIC)


def twin(loss, num_classes, dim):
    margin = loss.hyperparameters["margin"]
    miner = twin_miner(loss.hyperparameters["miner"], margin / 2.0)
    theirs = TripletMarginLoss(margin=margin, distance=LpDistance(power=2))
    return lambda x_BD, labels_B: theirs(x_BD, labels_B, miner(x_BD, labels_B))
