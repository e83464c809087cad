"""Search spaces of ArcFace."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = [
    "JOINT",
    "KIND",
    "NEEDS",
    "PARAMETERS",
    "PUBLISHED_TRAINING",
    "REALITY_CHECK",
    "SOURCE",
]

KIND = "proxy"
NEEDS = frozenset({"normalised", "proxies"})
SOURCE = "Deng et al. 2019, ArcFace: Additive Angular Margin Loss, equation 3"

PARAMETERS = {
    "margin_degrees": Parameter(
        default=28.6, low=0.0, high=90.0, unit="degrees", source="thesis table 4 (paper: 0.5 rad)"
    ),
    "scale": Parameter(default=64.0, low=1e-3, high=1e3, unit="1/cosine", source="paper"),
}

PUBLISHED_TRAINING = {"proxy_learning_rate": 1e-4}  # thesis table 4

JOINT = Space(
    {
        "margin_degrees": Real(0.0, 60.0, unit="degrees", source="own"),
        "scale": Real(8.0, 256.0, log=True, unit="1/cosine", source="own"),
    }
)

REALITY_CHECK = Space(
    {"margin_degrees": Real(0.0, 90.0, unit="degrees", source="reality check (MLRC)")}
)
