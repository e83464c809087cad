from dataclasses import replace

import pytest

from podium.trainables.settings.training_settings import TRAINING_TYPES, TrainingSettings
from podium.trainables.settings.unused_settings import CONDITIONS, Surroundings, why_unused_setting

NETWORK_AND_DATA = Surroundings(training=TrainingSettings(), dataset="d", backbone="b")


def test_what_is_said_to_change_nothing_is_a_training_setting():
    named = {name for names, _, _ in CONDITIONS for name in names.split()}
    assert named < set(TRAINING_TYPES)


@pytest.mark.parametrize(
    ("name", "changes", "reason"),
    [
        ("pooling", {"has_vectors": True, "has_map": False}, "there are no images"),
        ("pooling", {"has_map": False}, "b has no map of features to pool"),
        ("cache", {"has_own_size": True}, "the images of d have a size of their own"),
        ("proxy_weight_decay", {"no_proxies": "l has no proxies"}, "l has no proxies"),
        ("clip_value", {"no_proxies": "l has no proxies"}, None),
        ("precision", {"backbone": "identity"}, "identity passes vectors on as they are"),
    ],
)
def test_the_first_condition_that_holds_is_the_reason(name, changes, reason):
    assert why_unused_setting(name, replace(NETWORK_AND_DATA, **changes)) == reason
    assert why_unused_setting(name, NETWORK_AND_DATA) is None


def test_frozen_features_ignore_what_changes_images_and_backbone():
    frozen = TrainingSettings(mode="frozen_features", augmentation="random_resized_crop")
    ignored = {
        name
        for name in ("augmentation", "crop_scale_min", "batch_norm", "micro_batch_size", "epochs")
        if why_unused_setting(name, Surroundings(training=frozen))
    }
    assert ignored == {"augmentation", "crop_scale_min", "batch_norm", "micro_batch_size"}
