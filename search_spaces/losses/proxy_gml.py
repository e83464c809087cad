"""Search spaces of ProxyGML."""

from search_spaces.parameters import Int, LossSpaces, Published, Real

SPACES = LossSpaces(
    kind="proxy",
    source="Zhu et al. 2020, Fewer is More",
    published_training={"proxy_learning_rate": Published(3e-2, source="authors' code, CUB")},
    joint={
        "subproxies": Int(1, 16, log=True),
        "ratio": Real(0.01, 0.3, log=True),
        "regulariser": Real(0.0, 1.0),
    },
)
