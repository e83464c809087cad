"""Search spaces of the polar sine loss."""

from search_spaces.parameters import LossSpaces, Real

SPACES = LossSpaces(
    kind="tuple",
    source="Berlemont et al. 2016, Polar Sine Based Siamese Neural Network for Gesture "
    "Recognition",
    joint={"negative_weight": Real(0.1, 10.0, log=True)},
)
