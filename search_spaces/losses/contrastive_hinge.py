"""Search spaces of the contrastive loss on squared distances."""

from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="pair",
    source="Duffner et al. 2021, Similarity Metric Learning, equation 7; Mohan et al. 2023, Deep"
    " Metric Learning for Computer Vision: A Brief Overview",
    family=Family(
        "contrastive",
        differs="squared distances, linear hinge: twice contrastive at 1 - margin / 2",
    ),
    joint={"margin": Real(0.0, 2.0)},
)
