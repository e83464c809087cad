import pytest

from trainables.settings.frozen_feature_rules import (
    input_problem,
    mode_problem,
)


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


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"num_features": None, "dataset": "glyphs"}, "mlp takes vectors, but glyphs has images"),
        (
            {"takes_features": False, "backbone": "resnet18"},
            "resnet18 takes images, but features has vectors of 5 features",
        ),
        (
            {"mode": "frozen_features"},
            "mode frozen_features is for images, but features has vectors of 5 features already",
        ),
        (
            {"image_size": 64},
            "image_size must be null, since features has vectors of 5 features; got 64",
        ),
    ],
)
def test_what_does_not_go_together_is_reported_in_a_sentence(changes, told):
    assert problem(**changes) == told


@pytest.mark.parametrize(
    ("mode", "has_vectors", "is_refused"),
    [
        ("fine_tune", False, False),
        ("frozen_features", False, True),
        ("fine_tune", True, True),
    ],
)
def test_a_loss_of_several_views_needs_images_that_differ(mode, has_vectors, is_refused):
    told = mode_problem(mode, "statistical", {"several_views"}, has_vectors=has_vectors)
    assert (told is not None) == is_refused
    assert mode_problem(mode, "contrastive", {"normalised"}, has_vectors=has_vectors) is None
