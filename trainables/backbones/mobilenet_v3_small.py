"""MobileNetV3 small."""

from podium.trainables.backbones._torchvision import FeatureNetwork


class MobileNetV3Small(FeatureNetwork):
    """torchvision's mobilenet_v3_small, without the layers behind its pooling: F = 576."""

    has_map = True
    published_weights = ("IMAGENET1K_V1",)
    num_features = 576
    giga_multiply_adds = 0.055
