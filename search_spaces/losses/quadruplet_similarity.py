"""Search spaces of the similarity loss over pairs of pairs."""

from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="tuple",
    source="Yih et al. 2011, Learning Discriminative Projections for Text Similarity Measures",
    family=Family(
        "quadruplet",
        differs="every positive pair against every negative pair, soft, on cosines",
    ),
    joint={"gamma": Real(1.0, 100.0, log=True)},
)
