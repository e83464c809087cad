"""MobileNetV3 large."""

from podium.trainables.backbones._torchvision import FeatureNetwork


class MobileNetV3Large(FeatureNetwork):
    """torchvision's mobilenet_v3_large, without the layers behind its pooling: F = 960."""

    has_map = True
    published_weights = ("IMAGENET1K_V1", "IMAGENET1K_V2")
    num_features = 960
    giga_multiply_adds = 0.214
