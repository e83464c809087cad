"""Search spaces of the contrastive loss on cosines."""

from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="pair",
    source="Psomas 2020, Metric Learning: A Deep Dive, equation 2.15 (Hadsell et al. 2006)",
    family=Family("contrastive", differs="cosines, linear hinge on negatives; the thesis's form"),
    joint={"margin": Real(0.0, 1.0)},
)
