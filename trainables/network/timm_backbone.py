"""Networks of timm, an optional extra.

B = batch, C = channels, H, W = height and width in pixels, F = features.
"""

from typing import Any

from torch import Tensor

from podium.trainables.errors import TrialInputError, did_you_mean
from podium.trainables.network.backbone_base import Backbone
from podium.trainables.network.backbone_facts import TIMM
from podium.trainables.network.initial_weights import IMAGENET_WEIGHTS
from podium.trainables.network.load_weights import start_from
from podium.trainables.network.pixel_input import PixelInput
from podium.trainables.settings.trial_settings import RANDOM_WEIGHTS


class TimmBackbone(Backbone):
    """``timm:NAME``: a network of timm without its classifier; what it pools stays its own.

    Pixels are normalised by the mean and deviation of timm's configuration of the network.

    Args:
        name: such as ``timm:resnet50.a1_in1k``; the part behind the point names the weights that
            ``imagenet`` stands for.
        weights: ``imagenet``, ``random``, or the path of a file of the network's state dict.

    Raises:
        TrialInputError: timm is not installed, has no such network, or no such weights.
    """

    has_map = False
    published_weights = (IMAGENET_WEIGHTS,)

    def __init__(self, name: str, weights: str = RANDOM_WEIGHTS) -> None:
        self._name = name
        super().__init__(weights)
        self.network = _network(name.removeprefix(TIMM), weights == IMAGENET_WEIGHTS)
        facts = self.network.pretrained_cfg
        self.pixels = PixelInput(facts["mean"], facts["std"])
        is_fixed = facts.get("fixed_input_size", False)
        self._fixed_sides = tuple(facts["input_size"][1:]) if is_fixed else None
        self.num_features = self.network.num_features
        if hasattr(self.network, "head_hidden_size"):  # where layers stand behind the pooling
            self.num_features = self.network.head_hidden_size
        if weights != IMAGENET_WEIGHTS:
            start_from(self.network, weights, unused=_classifier(facts))

    @property
    def label(self) -> str:
        """The name in studies."""
        return self._name

    def check(self, images_BCHW: Tensor) -> None:
        """See `Backbone.check`: some networks take one size only."""
        sides = tuple(images_BCHW.shape[2:])
        if self._fixed_sides is not None and sides != self._fixed_sides:
            height, width = self._fixed_sides
            raise TrialInputError(
                f"{self.label} takes images of {height} x {width} only, but got "
                f"{sides[0]} x {sides[1]}"
            )

    def features(self, images_BCHW: Tensor) -> Tensor:
        """See `Backbone.features`; of shape (B, F)."""
        found: Tensor = self.network(self.pixels(images_BCHW))
        return found


def _network(name: str, is_pretrained: bool) -> Any:
    try:
        import timm
    except ImportError as error:
        raise TrialInputError(
            f"backbone {TIMM}{name} needs timm: pip install 'podium[timm]'"
        ) from error
    if not timm.is_model(name):
        near = did_you_mean(name, timm.list_models())
        raise TrialInputError(f"timm has no network {name!r}{near}; see timm.list_models()")
    if (is_pretrained or "." in name) and not timm.models.is_model_pretrained(name):
        known = timm.list_pretrained(f"{name.partition('.')[0]}.*")
        raise TrialInputError(
            f"timm has no weights for {name!r}; known: {', '.join(known) or 'none'}"
        )
    try:
        return timm.create_model(name, pretrained=is_pretrained, num_classes=0)
    except Exception as error:  # offline, each version of its hub has errors of its own
        reason = f"{type(error).__name__}: {error}"
        if not is_pretrained:
            raise TrialInputError(f"{TIMM}{name} cannot be made: {reason}") from error
        raise TrialInputError(
            f"the weights of {TIMM}{name} could not be fetched ({reason}): run"
            f" timm.create_model({name!r}, pretrained=True) on a machine with internet access,"
            f" with the same HF_HOME, or give weights: PATH or weights: {RANDOM_WEIGHTS}"
        ) from error


def _classifier(facts: Any) -> tuple[str, ...]:
    """First parts of the names of the classifier's weights."""
    named = facts.get("classifier") or ()
    return tuple(f"{name}." for name in ((named,) if isinstance(named, str) else named))
