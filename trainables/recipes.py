"""Training recipes by name: what a study gets unless it says otherwise."""

from collections.abc import Mapping

from trainables.settings import HyperparameterValue, TrainingSettings

__all__ = ["RECIPES", "loss_values", "training_for"]

RECIPES: dict[str, TrainingSettings] = {
    # For `conv_small` on some hundred images: a second or two of one core. Small batches give so
    # few images enough steps: in equal time 32 beats 64 by 3 to 7 points of Recall@1 for
    # multi-similarity and proxy-anchor, and loses 2 for contrastive. Learning rates are AdamW's
    # usual one and Proxy-Anchor's for its proxies; what suits a loss better is for a search to
    # find.
    "fast": TrainingSettings(
        recipe="fast",
        epochs=8,
        batch_size=32,
        samples_per_class=4,
        sampler="balanced",
        learning_rate=1e-3,
        proxy_learning_rate=1e-2,
        weight_decay=1e-4,
    ),
}


def training_for(recipe: str, *, dataset: str, backbone: str) -> TrainingSettings:
    """What a recipe does on a data set with a backbone, both by name."""
    return RECIPES[recipe]


def loss_values(recipe: str, loss: str) -> Mapping[str, HyperparameterValue]:
    """Hyperparameters and training values that a recipe gives one loss; empty if it has none."""
    return {}
