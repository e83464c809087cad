"""Search spaces of the angular loss."""

from search_spaces.parameters import Choice, Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "tuple"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Wang et al. 2017, Deep Metric Learning with Angular Loss"

PARAMETERS = {
    "angle_degrees": Parameter(
        default=45.0, low=0.0, high=70.0, unit="degrees", source="Roth et al. 2020"
    ),
    "form": Parameter(
        default="smooth", kind="choice", choices=("smooth", "hinge"), source="paper"
    ),
}

JOINT = Space(
    {
        "angle_degrees": Real(30.0, 55.0, unit="degrees", source="own"),
        "form": Choice(("smooth", "hinge"), source="own"),
    }
)
