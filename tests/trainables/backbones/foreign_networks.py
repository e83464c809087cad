"""Networks that were not made for podium, named by import path in tests."""

import torch
from torch import nn

from podium.trainables.network.backbone_base import Backbone


class Averages(nn.Module):
    """Features (B, 3): the mean of each channel, through a weight."""

    num_features = 3

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(3))

    def forward(self, inputs):
        return inputs.mean((2, 3)) * self.scale


class Map(Averages):
    """A map (B, 3, H, W)."""

    has_map = True

    def forward(self, inputs):
        return inputs * self.scale.view(3, 1, 1)


class Silent(Averages):
    """Does not say how many features it gives."""

    num_features = None


class Liar(Averages):
    """Says that it gives more features than it does."""

    num_features = 4


class Tuple(Averages):
    """Gives two results."""

    def forward(self, inputs):
        return inputs, inputs


class Demanding(Averages):
    """Cannot be made without an argument."""

    def __init__(self, size):
        super().__init__()


class Native(Backbone):
    """Made for podium: sees the pixels as they are."""

    has_map = False
    published_weights = ("OURS",)
    num_features = 1

    def __init__(self, weights="random"):
        super().__init__(weights)
        self.weights = weights

    def features(self, images_BCHW):
        return images_BCHW.float().mean((1, 2, 3))[:, None]


NOT_A_CLASS = 1
