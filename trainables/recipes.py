"""Training recipes by name: what a study gets unless it says otherwise."""

from trainables.settings import TrainingSettings

__all__ = ["RECIPES"]

RECIPES: dict[str, TrainingSettings] = {
    "fast": TrainingSettings(recipe="fast"),
}
