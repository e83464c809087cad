"""Search spaces of the N-pair loss."""

from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="tuple",
    source="Sohn 2016, Improved Deep Metric Learning with Multi-class N-pair Loss Objective",
    family=Family("n_pair", differs="dot products; the original"),
    joint={"norm_weight": Real(1e-4, 1e-1, log=True)},
)
