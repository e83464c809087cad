import pytest

from podium.trainables.settings.training_settings import TRAINING_TYPES, TrainingSettings
from podium.trainables.settings.unused_settings import unused_settings


def unused(training=None, **surroundings):
    return unused_settings(
        training or TrainingSettings(), **{"dataset": "d", "backbone": "b", **surroundings}
    )


@pytest.mark.parametrize(
    ("name", "changes", "reason"),
    [
        ("pooling", {"has_vectors": True, "has_map": False}, "there are no images"),
        ("pooling", {"has_map": False}, "b has no map of features to pool"),
        ("cache", {"has_own_size": True}, "the images of d have a size of their own"),
        ("proxy_weight_decay", {"no_proxies": "l has no proxies"}, "l has no proxies"),
        ("clip_value", {"no_proxies": "l has no proxies"}, None),
        ("precision", {"backbone": "identity"}, "it has no weights"),
    ],
)
def test_the_first_condition_that_holds_is_the_reason(name, changes, reason):
    assert unused(**changes).get(name) == reason
    assert name not in unused()
    assert unused(**changes).keys() <= TRAINING_TYPES.keys()


def test_frozen_features_ignore_what_changes_images_and_backbone():
    frozen = TrainingSettings(mode="frozen_features", augmentation="random_resized_crop")
    asked = {"augmentation", "crop_scale_min", "batch_norm", "micro_batch_size", "epochs"}
    assert asked & unused(frozen).keys() == asked - {"epochs"}
