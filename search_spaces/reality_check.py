"""The space `reality_check`: searches of Musgrave et al. 2020, A Metric Learning Reality Check."""

from podium.search_spaces.parameters import Int, Ranges, Real

_SOURCE = "reality check (MLRC)"

REALITY_CHECK: dict[str, Ranges] = {
    "arcface": {"margin_degrees": Real(0.0, 90.0, source=_SOURCE)},
    "contrastive_l2": {
        "positive_margin": Real(-0.2, 2.0, source=f"{_SOURCE}, hinges not squared"),
        "negative_margin": Real(-0.2, 2.0, source=f"{_SOURCE}, hinges not squared"),
    },
    "fast_ap": {"bins": Int(2, 250, source=_SOURCE)},
    "normalized_softmax": {"scale": Real(0.01, 100.0, log=True, source=f"{_SOURCE}, of 1/scale")},
    "triplet_l2": {"margin": Real(-0.2, 2.0, source=f"{_SOURCE}, distances not squared")},
}
