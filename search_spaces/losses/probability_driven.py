"""Search spaces of the probability-driven loss."""

from search_spaces.parameters import LossSpaces, Real

SPACES = LossSpaces(
    kind="pair",
    source="Nair and Hinton 2010, Rectified Linear Units Improve Restricted Boltzmann Machines, "
    "as in Duffner et al. 2021",
    joint={"initial_scale": Real(1.0, 50.0, log=True), "initial_offset": Real(-20.0, 0.0)},
)
