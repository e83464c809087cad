"""Search spaces of the SoftTriple loss."""

from search_spaces.parameters import Condition, Int, Parameter, Real, Space

__all__ = [
    "CONDITIONS",
    "JOINT",
    "KIND",
    "NEEDS",
    "PARAMETERS",
    "PUBLISHED_TRAINING",
    "SOURCE",
    "THESIS",
]

KIND = "proxy"
NEEDS = frozenset({"normalised", "proxies"})
SOURCE = "Qian et al. 2019, SoftTriple Loss: Deep Metric Learning Without Triplet Sampling"

PARAMETERS = {
    "centres": Parameter(default=10, low=1, high=100, kind="int", source="paper"),
    "scale": Parameter(default=20.0, low=1e-3, high=1e3, unit="1/cosine", source="paper"),
    "gamma": Parameter(default=10.0, low=0.0, high=1e3, unit="1/cosine", source="paper"),
    "margin": Parameter(
        default=0.1, low=0.0, high=1.0, unit="cosine", source="thesis table 4 (paper: 0.01)"
    ),
    "tau": Parameter(default=0.2, low=0.0, high=100.0, source="paper"),
}

CONDITIONS = {
    "gamma": Condition("centres", above=1),
    "tau": Condition("centres", above=1),
}

PUBLISHED_TRAINING = {"proxy_learning_rate": 1e-4}  # thesis table 4

JOINT = Space(
    {
        "centres": Int(1, 10, log=True, source="own"),
        "scale": Real(4.0, 200.0, log=True, unit="1/cosine", source="own"),
        "gamma": Real(0.01, 100.0, log=True, unit="1/cosine", source="own"),
        "margin": Real(0.0, 1.0, unit="cosine", source="own"),
        "tau": Real(0.01, 1.0, log=True, source="own"),
    }
)

# The optimum reported for gamma, 58, does not lie on this grid.
THESIS = Space(
    {
        "scale": Real(2.0, 100.0, step=2.0, unit="1/cosine", source="thesis table 15"),
        "gamma": Real(10.0, 100.0, step=10.0, unit="1/cosine", source="thesis table 15"),
        "margin": Real(0.0, 1.0, step=0.1, unit="cosine", source="thesis table 15"),
        "tau": Real(0.0, 1.0, step=0.1, source="thesis table 15"),
        "proxy_learning_rate": Real(
            1e-5, 1e-4, step=1e-5, unit="per step", source="thesis table 15"
        ),
    }
)
