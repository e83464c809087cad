"""Search spaces of the structural loss."""

from search_spaces.parameters import LossSpaces, Real

SPACES = LossSpaces(
    kind="tuple",
    source="Yang et al., as in Duffner et al. 2021, Similarity Metric Learning",
    joint={
        "margin": Real(0.0, 1.0),
        "temperature": Real(0.1, 1.0, log=True),
        "variance_weight": Real(0.01, 10.0, log=True),
        "positive_variance": Real(0.001, 0.5, log=True),
        "negative_variance": Real(0.001, 0.5, log=True),
    },
)
