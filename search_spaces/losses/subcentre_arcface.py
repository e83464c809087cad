"""Search spaces of sub-centre ArcFace."""

from search_spaces.parameters import Family, Int, LossSpaces, Real

SPACES = LossSpaces(
    kind="proxy",
    source="Deng et al. 2020, Sub-center ArcFace",
    family=Family(
        "softmax",
        differs="arcface with several centres a class, of which the nearest counts",
    ),
    joint={
        "centres": Int(1, 10, log=True),
        "margin_degrees": Real(0.0, 60.0),
        "scale": Real(8.0, 256.0, log=True),
    },
)
