"""The same, given the triplets of the same miner. Its default for beta is not to train it."""

from pytorch_metric_learning.losses import MarginLoss

from benchmarks.twins._miners import DETERMINISTIC, twin_miner

CASES = (
    *({"miner": miner} for miner in DETERMINISTIC),
    {"miner": "all_triplets", "margin": 0.05, "beta": 0.9, "nu": 0.3},
    {"miner": "semihard_band", "margin": 0.4, "beta": 1.4, "learn_beta": False},
)


def twin(loss, num_classes, dim):
    margin, beta, learn_beta, nu, miner = loss.hyperparameters.values()
    mine = twin_miner(miner, margin)
    classes = num_classes if learn_beta else None
    theirs = MarginLoss(margin, nu, beta, learn_beta=learn_beta, num_classes=classes)
    if learn_beta:
        theirs.beta = loss.beta
    return lambda x_BD, labels_B: theirs(x_BD, labels_B, mine(x_BD, labels_B))
