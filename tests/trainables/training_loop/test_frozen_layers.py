"""What rests in which epoch, by what it does to parameters and statistics."""

import pytest
import torch
from torch import nn

from podium.trainables.training_loop.frozen_layers import (
    let_rest,
    warn_of_batch_norm,
    warn_of_warm_up,
)
from tests.trainables.tiny_networks import TinyBackbone, settings

CONVOLUTION = {"convolution.weight", "convolution.bias"}
AFFINE = {"norm.weight", "norm.bias"}


def trainable(backbone, training, epoch):
    backbone.train()
    let_rest(backbone, training, epoch)
    return {name for name, weight in backbone.named_parameters() if weight.requires_grad}


@pytest.mark.parametrize(
    ("batch_norm", "after"),
    [
        ("train", CONVOLUTION | AFFINE),
        ("frozen_statistics", CONVOLUTION | AFFINE),
        ("frozen", CONVOLUTION),
    ],
)
def test_the_backbone_rests_in_the_warm_up_and_its_batch_norm_as_the_recipe_says(
    batch_norm, after
):
    training = settings(warm_up_epochs=2, batch_norm=batch_norm)
    backbone = TinyBackbone()
    found = [trainable(backbone, training, epoch) for epoch in (1, 2, 3, 4)]
    assert found == [set(), set(), after, after]


def test_all_kinds_of_batch_norm_are_frozen_and_nothing_else():
    backbone = nn.Sequential(
        nn.BatchNorm1d(3), nn.BatchNorm3d(3), nn.Dropout(), nn.GroupNorm(1, 3)
    )
    backbone.train()
    let_rest(backbone, settings(batch_norm="frozen"), 1)
    assert [module.training for module in backbone] == [False, False, True, True]
    assert [name for name, p in backbone.named_parameters() if p.requires_grad] == [
        "3.weight",
        "3.bias",
    ]


@pytest.mark.parametrize("batch_norm", ["frozen_statistics", "frozen"])
def test_a_freeze_that_does_nothing_or_nothing_good_is_reported(batch_norm):
    training = settings(batch_norm=batch_norm)
    with pytest.warns(UserWarning, match=f"{batch_norm!r} changes nothing: .* has no BatchNorm"):
        warn_of_batch_norm(TinyBackbone(has_batch_norm=False), training)
    with pytest.warns(UserWarning, match="statistics that were computed from no image"):
        warn_of_batch_norm(TinyBackbone(), training)


def test_a_freeze_of_known_statistics_is_not_warned_of(recwarn):
    backbone = TinyBackbone()
    backbone(torch.full((4, 3, 6, 6), 200, dtype=torch.uint8))
    warn_of_batch_norm(backbone, settings(batch_norm="frozen"))
    warn_of_batch_norm(TinyBackbone(), settings(batch_norm="train"))
    assert not recwarn.list


# The thesis's code warms ResNet50 up for 5 epochs; who tries it for 5 trains the head alone.
def test_a_warm_up_that_never_ends_is_warned_of(recwarn):
    short = settings(epochs=5, warm_up_epochs=4)
    nothing_rests = settings(epochs=5, warm_up_epochs=5, mode="frozen_features")
    for backbone, training in (
        (TinyBackbone(), short),
        (TinyBackbone(), nothing_rests),
        (nn.Identity(), settings(epochs=5, warm_up_epochs=5)),
    ):
        warn_of_warm_up(backbone, training)
    assert not recwarn.list
    with pytest.warns(UserWarning, match="backbone never trains: .* is 5 of 5 epochs"):
        warn_of_warm_up(TinyBackbone(), settings(epochs=5, warm_up_epochs=5))
