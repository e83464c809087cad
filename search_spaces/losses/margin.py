"""Search spaces of the margin loss."""

from search_spaces.losses._miners import TRIPLET_MINERS
from search_spaces.parameters import Choice, Condition, Parameter, Real, Space

__all__ = ["CONDITIONS", "JOINT", "KIND", "NEEDS", "PARAMETERS", "PUBLISHED_TRAINING", "SOURCE"]

KIND = "triplet"
NEEDS = frozenset({"balanced", "normalised", "proxies"})
SOURCE = "Wu et al. 2017, Sampling Matters in Deep Embedding Learning, section 4"

PARAMETERS = {
    "margin": Parameter(
        default=0.2, low=0.0, high=2.0, unit="distance", source="paper (thesis table 4: 0.5)"
    ),
    "beta": Parameter(default=1.2, low=0.0, high=2.0, unit="distance", source="paper"),
    "learn_beta": Parameter(default=True, kind="bool", source="paper"),
    "nu": Parameter(default=0.0, low=0.0, high=1e3, source="authors' code"),
    "miner": Parameter(
        default="distance_weighted", kind="choice", choices=TRIPLET_MINERS, source="paper"
    ),
}

CONDITIONS = {"nu": Condition("learn_beta", values=(True,))}

PUBLISHED_TRAINING = {"proxy_learning_rate": 5e-5}  # of beta: thesis table 4

# Without nu, which the authors' code leaves at 0.
JOINT = Space(
    {
        "margin": Real(0.0, 0.5, unit="distance", source="own"),
        "beta": Real(0.5, 1.6, unit="distance", source="own"),
        "miner": Choice(TRIPLET_MINERS, source="own"),
    }
)
