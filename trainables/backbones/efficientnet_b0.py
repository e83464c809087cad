"""EfficientNet-B0."""

from podium.trainables.backbones._torchvision import FeatureNetwork


class EfficientNetB0(FeatureNetwork):
    """torchvision's efficientnet_b0, with its stochastic depth while training: F = 1280."""

    has_map = True
    published_weights = ("IMAGENET1K_V1",)
    num_features = 1280
    giga_multiply_adds = 0.385
