"""Search spaces of the triplet loss on squared distances."""

from search_spaces.parameters import Every, Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="triplet",
    source="Schroff et al. 2015, FaceNet: A Unified Embedding for Face Recognition and Clustering",
    family=Family(
        "triplet",
        differs="by class, hinge on squared distances: twice triplet at half the margin; FaceNet",
    ),
    joint={"margin": Real(0.02, 1.0), "miner": Every()},
    reality_check={
        "margin": Real(-0.2, 2.0, source="reality check (MLRC), distances not squared")
    },
)
