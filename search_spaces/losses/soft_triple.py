"""Search spaces of the SoftTriple loss."""

from search_spaces.parameters import Condition, Int, LossSpaces, Published, Real

SPACES = LossSpaces(
    kind="proxy",
    source="Qian et al. 2019, SoftTriple Loss: Deep Metric Learning Without Triplet Sampling",
    conditions={"gamma": Condition("centres", above=1), "tau": Condition("centres", above=1)},
    published_training={
        "proxy_learning_rate": Published(1e-4, source="thesis table 4; paper: 0.01")
    },
    joint={
        "centres": Int(1, 10, log=True),
        "scale": Real(4.0, 200.0, log=True),
        "gamma": Real(0.01, 100.0, log=True),
        "margin": Real(0.0, 1.0),
        "tau": Real(0.01, 1.0, log=True),
    },
    psomas2020={
        "scale": Real(2.0, 100.0, step=2.0, source="thesis table 15"),
        "gamma": Real(
            10.0, 100.0, step=10.0, source="thesis table 15 (its best, 58, is no such step)"
        ),
        "margin": Real(0.0, 1.0, step=0.1, source="thesis table 15"),
        "tau": Real(0.0, 1.0, step=0.1, source="thesis table 15"),
        "proxy_learning_rate": Real(1e-5, 1e-4, step=1e-5, source="thesis table 15"),
    },
)
