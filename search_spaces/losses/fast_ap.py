"""Search spaces of FastAP."""

from search_spaces.parameters import Int, LossSpaces

SPACES = LossSpaces(
    kind="ranking",
    source="Cakir et al. 2019, Deep Metric Learning to Rank",
    joint={"bins": Int(5, 64)},
    reality_check={"bins": Int(2, 250, source="reality check (MLRC)")},
)
