"""The miners that a loss over triplets may name."""

__all__ = ["TRIPLET_MINERS"]

TRIPLET_MINERS = (
    "all_triplets",
    "batch_hard",
    "distance_weighted",
    "random_negative",
    "semihard_band",
    "semihard_hardest",
)
