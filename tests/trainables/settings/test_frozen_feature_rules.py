"""What fits; what does not is refused by every trial (tests of the trials of features)."""

import pytest

from podium.trainables.settings.frozen_feature_rules import input_problem


def problem(**changes):
    fitting = {
        "dataset": "features",
        "num_features": 5,
        "backbone": "mlp",
        "takes_features": True,
        "mode": "fine_tune",
        "image_size": None,
    }
    return input_problem(**{**fitting, **changes})


def test_vectors_go_with_a_backbone_that_takes_them():
    assert problem() is None


@pytest.mark.parametrize("mode", ["fine_tune", "frozen_features"])
@pytest.mark.parametrize("image_size", [None, 224])
def test_images_go_with_a_backbone_that_takes_images_in_every_mode(mode, image_size):
    images = {"dataset": "glyphs", "num_features": None, "takes_features": False}
    assert problem(**images, backbone="resnet18", mode=mode, image_size=image_size) is None
