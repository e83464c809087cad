"""Search spaces of the softmax loss on cosines."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "REALITY_CHECK", "SOURCE"]

KIND = "proxy"
NEEDS = frozenset({"normalised", "proxies"})
SOURCE = "Zhai and Wu 2019, Classification is a Strong Baseline for Deep Metric Learning"

PARAMETERS = {
    "scale": Parameter(default=20.0, low=1e-3, high=1e3, unit="1/cosine", source="paper"),
}

JOINT = Space({"scale": Real(4.0, 128.0, log=True, unit="1/cosine", source="own")})

# A temperature there, 1 / scale, over the same range.
REALITY_CHECK = Space(
    {"scale": Real(0.01, 100.0, log=True, unit="1/cosine", source="reality check (MLRC)")}
)
