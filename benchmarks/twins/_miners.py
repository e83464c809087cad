"""What pytorch-metric-learning mines in place of our miners."""

from pytorch_metric_learning.distances import CosineSimilarity
from pytorch_metric_learning.miners import (
    BatchHardMiner,
    DistanceWeightedMiner,
    TripletMarginMiner,
)

# Those that choose the same triplets as ours.
DETERMINISTIC = ("all_triplets", "batch_hard", "semihard_band")


def twin_miner(name, margin):
    """A function of embeddings and labels to triplets; margin as a difference of cosines.

    They have no semi-hard miner without a margin, which is timed against the one with it, and draw
    their random negatives otherwise.
    """
    cosine = CosineSimilarity()
    match name:
        case "all_triplets":
            return lambda x_BD, labels_B: None
        case "batch_hard":
            return BatchHardMiner(distance=cosine)
        case "distance_weighted":
            return DistanceWeightedMiner()
        case "semihard_band" | "semihard_hardest":
            return TripletMarginMiner(margin, "semihard", distance=cosine)
    raise ValueError(f"there is no twin of {name!r}")
