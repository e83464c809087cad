"""Search spaces of the GradML loss."""

from search_spaces.parameters import LossSpaces, Real

SPACES = LossSpaces(
    kind="tuple",
    source="GradML, equation 11",
    joint={"k": Real(1.0, 4.0), "w": Real(0.5, 2.0, log=True)},
)
