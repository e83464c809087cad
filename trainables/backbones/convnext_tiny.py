"""ConvNeXt, tiny."""

from torch import Tensor

from podium.trainables.backbones._torchvision import FeatureNetwork


class ConvNeXtTiny(FeatureNetwork):
    """torchvision's convnext_tiny, with its stochastic depth while training: F = 768.

    Its last LayerNorm is behind the pooling and published with the classifier; it stays there.
    """

    has_map = True
    published_weights = ("IMAGENET1K_V1",)
    side_multiple = 4
    min_side = 32
    num_features = 768
    giga_multiply_adds = 4.45
    classifier = ("avgpool", "classifier.2")

    def after_pooling(self, features_BF: Tensor) -> Tensor:
        """The LayerNorm in front of the classifier."""
        normalised: Tensor = self.network.classifier[0](features_BF[:, :, None, None])
        return normalised.flatten(1)
