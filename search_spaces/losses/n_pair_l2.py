"""Search spaces of the N-pair loss on squared distances."""

from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="tuple",
    source="Sohn 2016, Improved Deep Metric Learning with Multi-class N-pair Loss Objective, with"
    " distances in place of products",
    family=Family("n_pair", differs="squared distances, which compare lengths as well"),
    joint={"norm_weight": Real(1e-4, 1e-1, log=True)},
)
