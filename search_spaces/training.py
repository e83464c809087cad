"""Hyperparameters of the training recipe that a study may search beside those of the loss."""

from search_spaces.params import Int, Parameter, Real

__all__ = ["TRAINING_PARAMETERS", "TRAINING_SPACES"]

# Defaults belong to podium's own small network; a study states its own for others.
TRAINING_PARAMETERS: dict[str, Parameter] = {
    "learning_rate": Parameter(
        default=1e-3, low=0.0, high=1.0, low_inclusive=False, unit="per step", source="own"
    ),
    "proxy_learning_rate": Parameter(
        default=1e-2, low=0.0, high=10.0, low_inclusive=False, unit="per step", source="own"
    ),
    "weight_decay": Parameter(
        default=1e-4, low=0.0, high=1.0, unit="per step and learning rate", source="own"
    ),
    "warm_up_epochs": Parameter(
        default=0, low=0, high=1000, kind="int", unit="epochs", source="own"
    ),
}

# On glyphs Recall@1 peaks at a learning rate of 3e-3 to 1e-2 and a proxy learning rate of 3e-2.
TRAINING_SPACES: dict[str, Real | Int] = {
    # From the 1e-4 used to fine-tune large networks to what small fresh ones still bear.
    "learning_rate": Real(1e-4, 3e-2, log=True, unit="per step", source="own"),
    "proxy_learning_rate": Real(1e-3, 3e-1, log=True, unit="per step", source="own"),
    "weight_decay": Real(1e-6, 1e-1, log=True, unit="per step and learning rate", source="own"),
    # 1 for BN-Inception and 5 for ResNet-50 in published recipes; a fresh network needs none.
    "warm_up_epochs": Int(0, 5, unit="epochs", source="own"),
}
