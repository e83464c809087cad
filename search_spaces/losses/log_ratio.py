"""Search spaces of the log-ratio loss."""

from search_spaces.parameters import Choice, LossSpaces

SPACES = LossSpaces(
    kind="continuous",
    source="Kim et al. 2019, Deep Metric Learning Beyond Binary Supervision, equation 2",
    joint={"squared": Choice((True, False))},
)
