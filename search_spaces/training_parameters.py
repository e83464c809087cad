"""Hyperparameters of the training recipe that a study may search besides those of the loss."""

from podium.search_spaces.parameters import Int, Published, Real

# Of the loss's own parameters: without effect on a loss that has none.
PROXY_PARAMETERS = ("proxy_learning_rate", "proxy_weight_decay")

_DECAY = "per step and learning rate"

# Rates that suit a network are around those of its recipe: a tenth to thirty times them.
RATES = ("learning_rate", "proxy_learning_rate")

# Around the defaults, which belong to podium's own small network; a study states its own for
# others. On glyphs Recall@1 peaks at a learning
# rate of 3e-3 to 1e-2 and a proxy learning rate of 3e-2.
TRAINING_SPACES: dict[str, Real | Int] = {
    "learning_rate": Real(1e-4, 3e-2, log=True, unit="per step"),
    # 1 in published code; a fresh layer on a trained backbone bears more.
    "head_learning_rate_factor": Real(1.0, 100.0, log=True, unit="of the backbone's"),
    "proxy_learning_rate": Real(1e-3, 3e-1, log=True, unit="per step"),
    "weight_decay": Real(1e-6, 1e-1, log=True, unit=_DECAY),
    # 0 or 1e-4 in published recipes.
    "proxy_weight_decay": Real(0.0, 1e-3, unit=_DECAY),
    # 0.1, 0.25 and 0.5 in published recipes.
    "step_factor": Real(0.1, 0.9, unit="per step_epochs"),
    # 1 for BN-Inception and 5 for ResNet-50 in published recipes; a fresh network needs none.
    "warm_up_epochs": Int(0, 5, unit="epochs"),
}

PUBLISHED_TRAINING = {
    "arcface": {"proxy_learning_rate": Published(1e-4, source="thesis table 4")},
    "margin": {"proxy_learning_rate": Published(5e-5, source="thesis table 4, of beta")},
    "margin_cosine": {"proxy_learning_rate": Published(5e-5, source="thesis table 4, of beta")},
    "proxy_gml": {"proxy_learning_rate": Published(3e-2, source="authors' code, CUB")},
    "proxy_nca": {"proxy_learning_rate": Published(1e-5, source="thesis table 4")},
    "soft_triple": {"proxy_learning_rate": Published(1e-4, source="thesis table 4; paper: 0.01")},
}
"""Loss -> training parameters that publications state for it."""
