"""The base vision transformer with patches of 32 x 32 pixels."""

from podium.trainables.backbones._vit import VisionTransformer


class ViTB32(VisionTransformer):
    """torchvision's vit_b_32 up to its class token: F = 768."""

    has_map = False
    published_weights = ("IMAGENET1K_V1",)
    side_multiple = 32
    num_features = 768
    giga_multiply_adds = 4.41
