"""GradML, as the paper says; there is no public code."""

from trainables.recipes._base import ON_GLYPHS, Recipe
from trainables.settings.training_settings import TrainingSettings

GRADML_PAPER = Recipe(
    base=TrainingSettings(
        recipe="gradml_paper",
        epochs=100,  # our guess
        batch_size=32,  # paper
        sampler="balanced",  # paper: pairs of two classes, of which a batch has to have some
        samples_per_class=4,  # our guess
        optimiser="adam",  # our guess: the weight decay is one of the kind that Adam has
        # Paper. It looks like a misprint: at 1e-7 a step the network hardly moves. Search it.
        learning_rate=1e-7,
        proxy_learning_rate=1e-3,  # our guess; the loss itself has no parameters
        weight_decay=4e-4,  # paper
        batch_norm="frozen",  # paper: frozen, not said how far
        augmentation="random_resized_crop",  # our guess, as the two below
        crop_scale_min=0.08,
        evaluation_crop=224 / 256,
    ),
    image_size=224,  # our guess
    rows=ON_GLYPHS,
    losses={"gradml": {"k": 2.0, "w": 1.0}},  # paper
)
