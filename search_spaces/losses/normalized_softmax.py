"""Search spaces of the softmax loss on cosines."""

from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="proxy",
    source="Zhai and Wu 2019, Classification is a Strong Baseline for Deep Metric Learning",
    family=Family("softmax", differs="cosines times a scale, no margin"),
    joint={"scale": Real(4.0, 128.0, log=True)},
    reality_check={
        "scale": Real(0.01, 100.0, log=True, source="reality check (MLRC), of 1/scale")
    },
)
