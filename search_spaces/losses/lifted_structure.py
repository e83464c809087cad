"""Search spaces of the generalised lifted structure loss."""

from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="tuple",
    source="Psomas 2020, Metric Learning: A Deep Dive, equation 2.21 (Hermans et al. 2017)",
    family=Family(
        "lifted",
        differs="cosines, all positives of an anchor at once, hinge; the thesis's equation",
    ),
    joint={"margin": Real(0.0, 1.0)},
)
