"""Search spaces of the contrastive loss on distances."""

from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="pair",
    source="Hadsell et al. 2006, Dimensionality Reduction by Learning an Invariant Mapping",
    family=Family(
        "contrastive",
        differs="distances, squared hinges with a margin on both sides; the original",
    ),
    joint={"positive_margin": Real(0.0, 0.8), "negative_margin": Real(0.1, 1.5)},
    reality_check={
        "positive_margin": Real(-0.2, 2.0, source="reality check (MLRC), hinges not squared"),
        "negative_margin": Real(-0.2, 2.0, source="reality check (MLRC), hinges not squared"),
    },
)
