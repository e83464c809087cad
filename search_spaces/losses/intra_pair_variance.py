"""Search spaces of the intra-pair variance loss."""

from search_spaces.parameters import LossSpaces, Real

SPACES = LossSpaces(
    kind="pair",
    source="Yu and Tao 2019, Deep Metric Learning with Tuplet Margin Loss",
    joint={"positive_slack": Real(0.0, 0.2), "negative_slack": Real(0.0, 0.2)},
)
