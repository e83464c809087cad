"""Search spaces of the lifted structure loss as first published."""

from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="tuple",
    source="Song et al. 2016, Deep Metric Learning via Lifted Structured Feature Embedding",
    family=Family(
        "lifted",
        differs="distances, any length, one positive pair at a time, squared hinge; the original",
    ),
    joint={"margin": Real(0.2, 2.0)},
)
