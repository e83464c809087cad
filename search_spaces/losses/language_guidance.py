"""Search spaces of language guidance."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "text"
NEEDS = frozenset({"class_text", "normalised"})
SOURCE = (
    "Roth et al. 2022, Integrating Language Guidance into Vision-based Deep Metric Learning, "
    "with the authors' code"
)

PARAMETERS = {
    "temperature": Parameter(
        default=1.0, low=1e-2, high=100.0, unit="cosine", source="authors' code"
    ),
    "gamma": Parameter(default=1.0, low=0.0, high=10.0, unit="cosine", source="authors' code"),
}

JOINT = Space(
    {
        "temperature": Real(0.1, 2.0, log=True, unit="cosine", source="own"),
        "gamma": Real(0.0, 2.0, unit="cosine", source="own"),
    }
)
