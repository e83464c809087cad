"""Search spaces of the lifted structure loss with mined pairs."""

from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="tuple",
    source="the code of Psomas 2020, Metric Learning: A Deep Dive",
    family=Family(
        "lifted",
        differs="cosines of mined pairs, no margin or hinge; the thesis's code",
    ),
    joint={
        "alpha": Real(5.0, 100.0, log=True),
        "beta": Real(0.5, 20.0, log=True),
        "epsilon": Real(0.0, 1.0),
    },
)
