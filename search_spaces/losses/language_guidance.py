"""Search spaces of language guidance."""

from search_spaces.parameters import LossSpaces, Real

SPACES = LossSpaces(
    kind="text",
    source="Roth et al. 2022, Integrating Language Guidance into Vision-based Deep Metric "
    "Learning, with the authors' code",
    joint={"temperature": Real(0.1, 2.0, log=True), "gamma": Real(0.0, 2.0)},
)
