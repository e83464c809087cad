"""Which training settings change nothing, and why: one table of conditions. No torch."""

from podium.trainables.settings.frozen_feature_rules import FROZEN_FEATURES
from podium.trainables.settings.training_settings import TrainingSettings


def unused_settings(
    training: TrainingSettings,
    *,
    dataset: str = "",
    has_vectors: bool = False,
    has_own_size: bool = False,
    backbone: str = "",
    has_map: bool = True,
    no_proxies: str = "",
) -> dict[str, str]:
    """Training setting that changes nothing -> why, in words.

    What is not given is taken to use every setting: a data set to have images that are resized,
    and a backbone a map of features to pool. ``no_proxies`` says why settings of the loss's own
    parameters change nothing; it is empty if the loss has some.
    """
    is_frozen = training.mode == FROZEN_FEATURES and not has_vectors
    clips_proxies = training.clip_value > 0 and training.clipped == "loss"
    optimiser, steps, epochs = training.optimiser, training.step_epochs, training.epochs
    size, crop = training.batch_size, training.augmentation
    of_training = "augmentation transform crop_scale_min"
    of_images = f"{of_training} evaluation_crop cache loader channels_last pooling"
    of_backbone = "warm_up_epochs batch_norm layer_decay lora_rank gradient_checkpointing"
    own_size = f"the images of {dataset} have a size of their own"
    is_short = epochs - training.linear_warm_up_epochs < 2
    of_adam, of_others = optimiser in ("adamw", "adam"), optimiser in ("rmsprop", "sgd")
    # Whether a condition holds; settings that change nothing then; why. The first is the reason.
    conditions = (
        (has_vectors, of_images, "there are no images"),
        (
            is_frozen,
            of_training,
            "features are computed once, as for tests (mode: fine_tune trains on changed images)",
        ),
        (is_frozen, of_backbone, "the backbone is frozen"),
        (is_frozen, "micro_batch_size", "features of a batch always fit"),
        (has_own_size, "cache loader evaluation_crop", own_size),
        (not has_map, "pooling", f"{backbone} has no map of features to pool"),
        (no_proxies, "proxy_learning_rate proxy_weight_decay", no_proxies),
        (no_proxies and clips_proxies, "clip_value clipped", no_proxies),
        (backbone == "identity", f"precision {of_backbone}", "it has no weights"),
        (training.micro_batch_size >= size, "micro_batch_size", f"a batch has {size} images"),
        (not training.is_balanced, "samples_per_class", f"the sampler is {training.sampler}"),
        (not of_adam, "adam_epsilon", f"the optimiser is {optimiser}"),
        (not of_others, "momentum", f"the optimiser is {optimiser}"),
        (training.schedule == "cosine", "step_epochs step_factor", "the schedule is cosine"),
        (is_short and training.schedule == "cosine", "schedule", "one epoch follows the warm-up"),
        (steps == 0, "step_factor", "step_epochs is 0, so learning rates stay constant"),
        (0 < steps >= epochs, "step_epochs step_factor", f"training ends after {epochs} epochs"),
        (training.clip_value <= 0.0, "clipped", "clip_value is 0, so no gradient is clipped"),
        (crop != "random_resized_crop", "crop_scale_min", f"the augmentation is {crop}"),
    )
    unused: dict[str, str] = {}
    for holds, names, reason in conditions:
        for name in names.split() if holds else ():
            unused.setdefault(name, reason)
    return unused
