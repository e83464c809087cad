"""The space `psomas2020`: table 15 of Psomas 2020, Metric Learning: A Deep Dive."""

from podium.search_spaces.parameters import Ranges, Real

_TABLE = "thesis table 15"

PSOMAS2020: dict[str, Ranges] = {
    "multi_similarity": {
        "alpha": Real(2.0, 100.0, step=2.0, source=_TABLE),
        "beta": Real(2.0, 100.0, step=2.0, source=_TABLE),
        "margin": Real(0.0, 1.0, step=0.1, source=_TABLE),
        "epsilon": Real(0.0, 1.0, step=0.1, source=_TABLE),
    },
    "proxy_anchor": {
        "alpha": Real(2.0, 100.0, step=2.0, source=_TABLE),
        "margin": Real(0.0, 1.0, step=0.1, source=_TABLE),
    },
    "soft_triple": {
        "scale": Real(2.0, 100.0, step=2.0, source=_TABLE),
        "gamma": Real(10.0, 100.0, step=10.0, source=f"{_TABLE} (its best, 58, is no such step)"),
        "margin": Real(0.0, 1.0, step=0.1, source=_TABLE),
        "tau": Real(0.0, 1.0, step=0.1, source=_TABLE),
        "proxy_learning_rate": Real(1e-5, 1e-4, step=1e-5, source=_TABLE),
    },
}
