"""Search spaces of CosFace."""

from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="proxy",
    source="Wang et al. 2018, CosFace: Large Margin Cosine Loss, equation 4",
    family=Family("softmax", differs="normalized_softmax with a margin on the cosine"),
    joint={"margin": Real(0.0, 1.0), "scale": Real(8.0, 256.0, log=True)},
)
