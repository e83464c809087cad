"""GradML, as the paper says; there is no public code."""

from podium.trainables.recipes._base import ON_GLYPHS, Recipe
from podium.trainables.settings.training_settings import TrainingSettings

GRADML_PAPER = Recipe(
    base=TrainingSettings(
        recipe="gradml_paper",
        epochs=100,  # our guess
        batch_size=32,  # paper
        sampler="balanced",  # paper: pairs of two classes, of which a batch has to have some
        samples_per_class=4,  # our guess
        optimiser="adam",  # paper
        # Paper. It looks like a misprint: at 1e-7 a step the network hardly moves.
        # studies/gradml-learning-rate.yaml searches it.
        learning_rate=1e-7,
        proxy_learning_rate=1e-3,  # our guess; the loss itself has no parameters
        weight_decay=4e-4,  # paper
        batch_norm="frozen",  # paper: frozen, not said how far
        augmentation="random_resized_crop",  # paper, with a flip
        crop_scale_min=0.08,  # our guess: torchvision's default
        evaluation_crop=224 / 256,  # paper: the centre, not said of what
    ),
    image_size=224,  # paper
    rows=ON_GLYPHS,
    losses={"gradml": {"k": 2.0, "w": 1.0}},  # paper
)
