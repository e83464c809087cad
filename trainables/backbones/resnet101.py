"""ResNet-101."""

from podium.trainables.backbones._torchvision import ResNet


class ResNet101(ResNet):
    """torchvision's resnet101: F = 2048."""

    has_map = True
    published_weights = ("IMAGENET1K_V1", "IMAGENET1K_V2")
    num_features = 2048
    giga_multiply_adds = 7.8
