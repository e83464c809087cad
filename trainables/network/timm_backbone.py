"""Networks of timm, an optional extra.

B = batch, C = channels, H, W = height and width in pixels, F = features, N = tokens, D = their
width.
"""

from typing import Any

import torch
from torch import Tensor

from podium.trainables.errors import TrialInputError, did_you_mean
from podium.trainables.network.backbone_base import Backbone
from podium.trainables.network.backbone_facts import TIMM, sides_problem
from podium.trainables.network.initial_weights import IMAGENET_WEIGHTS
from podium.trainables.network.load_weights import start_from
from podium.trainables.network.pixel_input import PixelInput
from podium.trainables.network.timm_facts import authors_pooling, name_and_pooling, poolings
from podium.trainables.settings.trial_settings import RANDOM_WEIGHTS


class TimmBackbone(Backbone):
    """``timm:NAME`` or ``timm:NAME/POOLING``: a network of timm without its classifier.

    Pixels are normalised by the mean and deviation of timm's configuration of the network. Where
    it gives tokens, they are pooled as its authors do (`timm_facts.authors_pooling`), or as the
    name says: ``cls``, ``patch_mean``, ``cls_and_mean`` (one after the other), ``map`` (its own
    attention). Positions are resampled to the image size where timm can.

    Args:
        name: such as ``timm:resnet50.a1_in1k``; the part behind the point names the weights that
            ``imagenet`` stands for.
        weights: ``imagenet``, ``random``, or the path of a file of the network's state dict.
        image_size: height and width of the images in pixels; None for the network's own.

    Raises:
        TrialInputError: timm is not installed, has no such network or weights; or the network
            takes no such images, or does not pool so.
    """

    has_map = False
    published_weights = (IMAGENET_WEIGHTS,)

    def __init__(
        self, name: str, weights: str = RANDOM_WEIGHTS, image_size: int | None = None
    ) -> None:
        self._name = name
        super().__init__(weights)
        own_name, pooling = name_and_pooling(name)
        self.network = _network(own_name, weights == IMAGENET_WEIGHTS)
        facts = self.network.pretrained_cfg
        self.pixels = PixelInput(facts["mean"], facts["std"])
        if weights != IMAGENET_WEIGHTS:
            start_from(self.network, weights, unused=_classifier(facts))
        self.pooling = pooling or authors_pooling(own_name, own_pooling(self.network))
        if self.pooling not in (known := _poolings(self.network)):
            raise TrialInputError(
                f"{name} does not pool by {self.pooling}; known: {', '.join(known)}"
            )
        is_fixed = facts.get("fixed_input_size", False)
        self._sides = tuple(facts["input_size"][1:]) if is_fixed else None
        if image_size is not None and is_fixed:
            self._resize(image_size)
        self.num_features = self.network.num_features
        if hasattr(self.network, "head_hidden_size"):  # where layers stand behind the pooling
            self.num_features = self.network.head_hidden_size
        if self.pooling == "cls_and_mean":
            self.num_features *= 2

    @property
    def label(self) -> str:
        """The name in studies."""
        return self._name

    def _resize(self, side: int) -> None:
        multiple = size_multiple(self.network)
        if (side, side) == self._sides or not multiple:  # `check` refuses other images
            return
        problem = sides_problem(self.label, (side, side), multiple, multiple)
        if problem is not None:
            raise TrialInputError(problem)
        self.network.set_input_size(img_size=side)
        self._sides = (side, side)

    def check(self, images_BCHW: Tensor) -> None:
        """See `Backbone.check`: some networks take one size only."""
        sides = tuple(images_BCHW.shape[2:])
        if self._sides is not None and sides != self._sides:
            height, width = self._sides
            raise TrialInputError(
                f"{self.label} takes images of {height} x {width} only, but got "
                f"{sides[0]} x {sides[1]}"
            )

    def features(self, images_BCHW: Tensor) -> Tensor:
        """See `Backbone.features`; of shape (B, F)."""
        pixels = self.pixels(images_BCHW)
        if self.pooling == own_pooling(self.network):
            found: Tensor = self.network(pixels)
            return found
        tokens_BND = self.network.forward_features(pixels)
        cls_BD = tokens_BND[:, 0]
        mean_BD = tokens_BND[:, self.network.num_prefix_tokens :].mean(1)
        pooled = {"cls": (cls_BD,), "patch_mean": (mean_BD,), "cls_and_mean": (cls_BD, mean_BD)}
        return torch.cat([self.network.fc_norm(it) for it in pooled[self.pooling]], dim=1)


def own_pooling(network: Any) -> str:
    """How timm pools what a network gives."""
    if not hasattr(network, "num_prefix_tokens"):
        return "average"
    pooling = str(network.global_pool)
    return {"token": "cls", "avg": "patch_mean"}.get(pooling, pooling)


def size_multiple(network: Any) -> int:
    """Of which the sides of images of a network with positions are multiples; 0: one size only."""
    if not hasattr(network, "set_input_size"):
        return 0
    return max(int(stage["reduction"]) for stage in network.feature_info)


def _poolings(network: Any) -> tuple[str, ...]:
    """What `TimmBackbone` can do with what a network gives; its own is the first."""
    own = own_pooling(network)
    if not hasattr(network, "fc_norm") or own == "average":
        return (own,)
    return poolings(own, network.num_prefix_tokens)


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
