"""Search spaces of the binomial deviance loss."""

from search_spaces.parameters import LossSpaces, Real

SPACES = LossSpaces(
    kind="pair",
    source="Yi et al. 2014, Deep Metric Learning for Practical Person Re-Identification",
    joint={
        "alpha": Real(1.0, 10.0, log=True),
        "margin": Real(0.0, 1.0),
        "negative_weight": Real(1.0, 50.0, log=True),
    },
)
