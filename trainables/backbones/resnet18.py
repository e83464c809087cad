"""ResNet-18."""

from podium.trainables.backbones._torchvision import ResNet


class ResNet18(ResNet):
    """torchvision's resnet18: F = 512."""

    has_map = True
    published_weights = ("IMAGENET1K_V1",)
    num_features = 512
    giga_multiply_adds = 1.81
