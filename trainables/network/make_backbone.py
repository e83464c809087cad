"""From the settings of a trial to its backbone."""

from podium.trainables.errors import TrialInputError
from podium.trainables.network.backbone_base import Backbone
from podium.trainables.network.backbone_facts import TIMM, is_external
from podium.trainables.network.external_backbone import external_backbone
from podium.trainables.network.initial_weights import weights_problem
from podium.trainables.network.timm_backbone import TimmBackbone
from podium.trainables.registry import load, names
from podium.trainables.settings.trial_settings import BackboneSettings


def make_backbone(
    settings: BackboneSettings, num_inputs: int | None = None, image_size: int | None = None
) -> Backbone:
    """A fresh network; what of it does not come from a file is drawn from torch's generator.

    Args:
        settings: name and weights.
        num_inputs: length of the feature vectors that replace images; None for images.
        image_size: height and width of images in pixels, for networks that are made for one size;
            None for their own.

    Raises:
        TrialInputError: there is no such backbone, its weights are not there, or it does not take
            what the data set has.
    """
    name, weights = settings.name, settings.weights
    problem = weights_problem(settings)
    if problem is not None:
        raise TrialInputError(problem)
    if is_external(name):
        if num_inputs is not None:
            raise _takes_images(name)
        if name.startswith(TIMM):
            return TimmBackbone(name, weights, image_size)
        return external_backbone(name, weights)
    loaded = load("backbones", name)
    if loaded.takes_features and num_inputs is None:
        raise TrialInputError(f"backbone {name} takes feature vectors; the data set has images")
    if not loaded.takes_features and num_inputs is not None:
        raise _takes_images(name)
    more = {} if num_inputs is None else {"num_inputs": num_inputs}
    backbone: Backbone = loaded(weights, **more)
    return backbone


def _takes_images(name: str) -> TrialInputError:
    takers = [other for other in names("backbones") if load("backbones", other).takes_features]
    return TrialInputError(
        f"backbone {name} takes images; the data set has feature vectors: choose one of "
        f"{', '.join(takers)}"
    )
