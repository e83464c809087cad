"""Search spaces of direction-regularised proxy-NCA."""

from search_spaces.parameters import LossSpaces, Real

SPACES = LossSpaces(
    kind="proxy",
    source="Mohan et al. 2020, Moving in the Right Direction",
    joint={"scale": Real(1.0, 64.0, log=True), "gamma": Real(0.01, 1.0, log=True)},
)
