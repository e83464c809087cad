"""The same, given its own miner's pairs."""

from pytorch_metric_learning.losses import MultiSimilarityLoss
from pytorch_metric_learning.miners import MultiSimilarityMiner

CASES = ({}, {"alpha": 18.0, "beta": 76.0, "margin": 0.8, "epsilon": 0.4})


def twin(loss, num_classes, dim):
    alpha, beta, margin, epsilon = loss.hyperparameters.values()
    miner = MultiSimilarityMiner(epsilon=epsilon)
    theirs = MultiSimilarityLoss(alpha=alpha, beta=beta, base=margin)
    return lambda x_BD, labels_B: theirs(x_BD, labels_B, miner(x_BD, labels_B))
