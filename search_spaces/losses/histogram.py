"""Search spaces of the histogram loss."""

from search_spaces.parameters import Int, LossSpaces

SPACES = LossSpaces(
    kind="pair",
    source="Ustinova and Lempitsky 2016, Learning Deep Embeddings with Histogram Loss",
    joint={"bins": Int(25, 200, log=True)},
)
