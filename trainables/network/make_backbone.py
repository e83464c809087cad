"""From the settings of a trial to its backbone."""

from podium.trainables.errors import TrialInputError
from podium.trainables.network.backbone_base import Backbone
from podium.trainables.network.backbone_facts import TIMM, is_external
from podium.trainables.network.external_backbone import external_backbone
from podium.trainables.network.initial_weights import weights_problem
from podium.trainables.network.timm_backbone import TimmBackbone
from podium.trainables.registry import load
from podium.trainables.settings.trial_settings import BackboneSettings


def make_backbone(
    settings: BackboneSettings, num_inputs: int | None = None, image_size: int | None = None
) -> Backbone:
    """A fresh network; what of it does not come from a file is drawn from torch's generator.

    Args:
        settings: name and weights.
        num_inputs: length of the feature vectors that replace images; None for images, which the
            backbone then takes.
        image_size: height and width of images in pixels, for networks that are made for one size;
            None for their own.

    Raises:
        TrialInputError: there is no such backbone, or its weights are not there.
    """
    name, weights = settings.name, settings.weights
    problem = weights_problem(settings)
    if problem is not None:
        raise TrialInputError(problem)
    if name.startswith(TIMM):
        return TimmBackbone(name, weights, image_size)
    if is_external(name):
        return external_backbone(name, weights)
    more = {} if num_inputs is None else {"num_inputs": num_inputs}
    backbone: Backbone = load("backbones", name)(weights, **more)
    return backbone
