"""Search spaces of the hierarchical triplet loss."""

from search_spaces.parameters import Family, Int, LossSpaces, Real

SPACES = LossSpaces(
    kind="triplet",
    source="Ge et al. 2018, Deep Metric Learning with Hierarchical Triplet Loss; its tree is of"
    " all classes and remade each epoch, this one of the batch",
    family=Family(
        "triplet",
        differs="triplet_l2 with a margin for each pair of classes from a tree of classes",
    ),
    joint={"margin": Real(0.0, 0.5), "levels": Int(2, 32)},
)
