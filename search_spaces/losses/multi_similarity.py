"""Search spaces of the multi-similarity loss with its miner."""

from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="pair",
    source="Wang et al. 2019, Multi-Similarity Loss, equation 15 with the mining of 12 and 13",
    family=Family("multi_similarity", differs="mined pairs, soft weights; the original"),
    joint={
        "alpha": Real(0.5, 64.0, log=True),
        "beta": Real(10.0, 200.0, log=True),
        "margin": Real(0.0, 1.0),
        "epsilon": Real(0.0, 1.0),
    },
    psomas2020={
        "alpha": Real(2.0, 100.0, step=2.0, source="thesis table 15"),
        "beta": Real(2.0, 100.0, step=2.0, source="thesis table 15"),
        "margin": Real(0.0, 1.0, step=0.1, source="thesis table 15"),
        "epsilon": Real(0.0, 1.0, step=0.1, source="thesis table 15"),
    },
)
