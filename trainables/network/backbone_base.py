"""What every backbone is: images in, features out.

B = batch, C = channels, H, W = height and width in pixels, F = features, h, w = of a map.
"""

from abc import abstractmethod

from torch import Tensor, nn

from podium.trainables.errors import TrialInputError
from podium.trainables.network.backbone_facts import sides_problem
from podium.trainables.network.initial_weights import choice_problem
from podium.trainables.settings.trial_settings import RANDOM_WEIGHTS


class Backbone(nn.Module):
    """A network without its embedding layer.

    How pixels become network input (scale, mean, channels) goes with the weights, so a backbone
    takes images as the data set holds them.

    A class states these attributes as literals in its own body, or leaves them as they
    are here: plans read them from the source, without torch (`trainables.network.backbone_facts`).

    Args:
        weights: ``imagenet``, one of ``published_weights``, the path of a file, or ``random``.

    Raises:
        TrialInputError: the network has no such weights.

    Attributes:
        has_map: whether the features are a map that the head pools.
        published_weights: names of weights that can be downloaded; the first is what ``imagenet``
            means. None: there is nothing to download.
        weights_note: where to get weights that cannot be downloaded by name.
        packages: modules it imports beside torch and torchvision, of the extra ``pretrained``.
        side_multiple: the height and width of images must be multiples of it.
        side_slack: number of pixels by which sides may be longer than such a multiple.
        min_side: the least height and width of images.
        takes_features: whether it takes float32 vectors of shape (B, ``num_inputs``) in place of
            images. Its constructor then has a second argument ``num_inputs``.
        giga_multiply_adds: multiplications of one RGB image of 224 x 224 in one forward pass, in
            10^9, by which plans compare the cost of networks; 0 of a network on vectors.
        num_features: F; 0 in the class where it is the length of the vectors.
    """

    has_map: bool
    published_weights: tuple[str, ...] = ()
    weights_note: str = ""
    packages: tuple[str, ...] = ()
    side_multiple: int = 1
    side_slack: int = 0
    min_side: int = 1
    takes_features: bool = False
    giga_multiply_adds: float = 0.0
    num_features: int = 0

    @abstractmethod
    def __init__(self, weights: str = RANDOM_WEIGHTS) -> None:
        super().__init__()
        problem = choice_problem(weights, self.label, self.published_weights, self.weights_note)
        if problem is not None:
            raise TrialInputError(problem)

    @property
    def label(self) -> str:
        """What studies call it: the name of its module."""
        return type(self).__module__.rpartition(".")[2]

    def forward(self, images_BCHW: Tensor) -> Tensor:
        """Features of uint8 images, grey (C = 1) or RGB (C = 3).

        Returns:
            A map of shape (B, F, h, w) if ``has_map``, else features of shape (B, F).

        Raises:
            TrialInputError: the network does not take images of these sides.
        """
        self.check(images_BCHW)
        return self.features(images_BCHW)

    @abstractmethod
    def features(self, images_BCHW: Tensor) -> Tensor:
        """What `forward` gives, of images whose shape was checked."""

    def check(self, images_BCHW: Tensor) -> None:
        """See `forward` for what it raises."""
        height, width = images_BCHW.shape[2:]
        problem = sides_problem(
            self.label, (height, width), self.side_multiple, self.min_side, self.side_slack
        )
        if problem is not None:
            raise TrialInputError(problem)
