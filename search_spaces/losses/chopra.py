"""Search spaces of Chopra's energy loss."""

from search_spaces.parameters import Every, LossSpaces, Real

SPACES = LossSpaces(
    kind="pair",
    source="Chopra et al. 2005, Learning a Similarity Metric Discriminatively",
    joint={"distance": Every(), "decay": Real(1.0, 20.0, log=True)},
)
