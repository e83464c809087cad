"""Search spaces of the statistical loss."""

from search_spaces.parameters import LossSpaces, Real

SPACES = LossSpaces(
    kind="pair",
    source="Chen and Salman 2011, Extracting Speaker-Specific Information with a Regularized "
    "Siamese Deep Network",
    joint={
        "mean_scale": Real(0.1, 10.0, log=True),
        "covariance_scale": Real(0.001, 10.0, log=True),
    },
)
