"""Search spaces of the triplet loss on cosines."""

from search_spaces.parameters import Every, LossSpaces, Real

SPACES = LossSpaces(
    kind="triplet",
    source="Psomas 2020, Metric Learning: A Deep Dive, equation 2.17 with the mining of 2.20",
    joint={"margin": Real(0.01, 0.5), "miner": Every()},
)
