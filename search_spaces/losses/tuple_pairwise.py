"""Search spaces of the pairwise loss on tuples."""

from search_spaces.parameters import LossSpaces, Real

SPACES = LossSpaces(
    kind="tuple",
    source="Berlemont et al. 2017, Class-Balanced Siamese Neural Networks",
    joint={"norm_weight": Real(0.01, 10.0, log=True)},
)
