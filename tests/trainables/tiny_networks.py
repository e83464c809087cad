"""Embedders of a few hundred numbers, for tests of what training does to parameters."""

from dataclasses import replace

import torch
from torch import nn

from podium.trainables.network.backbone_base import Backbone
from podium.trainables.network.embedder import Embedder
from podium.trainables.network.network import Network
from podium.trainables.settings.training_settings import TrainingSettings

CPU = torch.device("cpu")


class TinyBackbone(Backbone):
    """A convolution, BatchNorm or nothing, dropout: images (B, 3, 6, 6) to 8 features."""

    has_map = False
    num_features = 8

    def __init__(self, weights="random", *, dropout=0.0, has_batch_norm=True):
        super().__init__(weights)
        self.convolution = nn.Conv2d(3, 8, 3, stride=2)
        self.norm = nn.BatchNorm2d(8) if has_batch_norm else nn.Identity()
        self.dropout = nn.Dropout(dropout)

    def features(self, images_BCHW):
        scaled = images_BCHW.to(self.convolution.weight.dtype) / 255.0
        return self.dropout(self.norm(self.convolution(scaled)).relu()).mean((2, 3))


def tiny_embedder(training=None, *, seed=0, dim=4, **backbone):
    torch.manual_seed(seed)
    return Embedder(TinyBackbone(**backbone), dim, training or TrainingSettings())


def tiny_network(training=None, **changes):
    training = training or TrainingSettings()
    return Network(tiny_embedder(training, **changes), training, CPU)


def settings(**changes):
    return replace(TrainingSettings(), **changes)


def tiny_images(num_images, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (num_images, 3, 6, 6), generator=generator, dtype=torch.uint8)
