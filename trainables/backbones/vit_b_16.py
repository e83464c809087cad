"""The base vision transformer with patches of 16 x 16 pixels."""

from podium.trainables.backbones._vit import VisionTransformer


class ViTB16(VisionTransformer):
    """torchvision's vit_b_16 up to its class token: F = 768."""

    has_map = False
    published_weights = ("IMAGENET1K_V1", "IMAGENET1K_SWAG_E2E_V1", "IMAGENET1K_SWAG_LINEAR_V1")
    side_multiple = 16
    num_features = 768
    giga_multiply_adds = 17.6
