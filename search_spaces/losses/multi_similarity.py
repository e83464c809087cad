"""Search spaces of the multi-similarity loss with its miner."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE", "THESIS"]

KIND = "pair"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Wang et al. 2019, Multi-Similarity Loss, equation 15 with the mining of 12 and 13"

PARAMETERS = {
    "alpha": Parameter(default=2.0, low=1e-3, high=1e3, unit="1/cosine", source="paper"),
    "beta": Parameter(default=50.0, low=1e-3, high=1e3, unit="1/cosine", source="paper"),
    "margin": Parameter(default=0.5, low=-1.0, high=1.0, unit="cosine", source="thesis table 4"),
    "epsilon": Parameter(default=0.1, low=0.0, high=2.0, unit="cosine", source="paper"),
}

JOINT = Space(
    {
        "alpha": Real(0.5, 64.0, log=True, unit="1/cosine", source="own"),
        "beta": Real(10.0, 200.0, log=True, unit="1/cosine", source="own"),
        "margin": Real(0.0, 1.0, unit="cosine", source="own"),
        "epsilon": Real(0.0, 1.0, unit="cosine", source="own"),
    }
)

THESIS = Space(
    {
        "alpha": Real(2.0, 100.0, step=2.0, unit="1/cosine", source="thesis table 15"),
        "beta": Real(2.0, 100.0, step=2.0, unit="1/cosine", source="thesis table 15"),
        "margin": Real(0.0, 1.0, step=0.1, unit="cosine", source="thesis table 15"),
        "epsilon": Real(0.0, 1.0, step=0.1, unit="cosine", source="thesis table 15"),
    }
)
