"""Search spaces of neighbourhood components analysis."""

from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="tuple",
    source="Goldberger et al. 2004, Neighbourhood Components Analysis, section 2",
    family=Family("nca", differs="neighbours in the batch, no proxies"),
    joint={"softmax_scale": Real(1.0, 64.0, log=True)},
)
