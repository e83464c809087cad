"""What is known of a backbone before torch is loaded, for plans."""

import re
from dataclasses import dataclass, fields
from functools import cache
from importlib.util import find_spec

from podium.trainables.errors import TrialInputError
from podium.trainables.registry import literals, names
from podium.trainables.settings.training_settings import UNSET, TrainingSettings

TIMM = "timm:"

_FOREIGN = re.compile(
    r"timm:[A-Za-z0-9_.\-]+(/[a-z_]+)?|[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackboneFacts:
    """What a backbone's class states; `trainables.network.backbone_base.Backbone` explains."""

    has_map: bool
    published_weights: tuple[str, ...]
    weights_note: str
    packages: tuple[str, ...]
    side_multiple: int
    side_slack: int
    min_side: int
    takes_features: bool
    giga_multiply_adds: float

    def size_problem(self, name: str, image_size: int) -> str | None:
        """Why the network called ``name`` does not take square images of this side, or None."""
        sides = (image_size, image_size)
        return sides_problem(name, sides, self.side_multiple, self.min_side, self.side_slack)


def sides_problem(
    name: str, sides: tuple[int, int], multiple: int, least: int, slack: int = 0
) -> str | None:
    """Why a network does not take images of a height and width, or None.

    Args:
        name: name of the network.
        sides: height and width in pixels.
        multiple: number of pixels of which both sides must be multiples.
        least: least length of both sides, in pixels.
        slack: number of pixels by which they may be longer than a multiple.
    """
    if any(side % multiple > slack for side in sides):
        longer = f" or up to {slack} pixels longer" if slack else ""
        rule = f"are multiples of {multiple}{longer}"
    elif min(sides) < least:
        rule = f"have at least {least} pixels"
    else:
        return None
    return f"{name} takes images whose sides {rule}, but got {sides[0]} x {sides[1]}"


def is_external(name: str) -> bool:
    """Whether a backbone is not podium's own: ``package.module:Class`` or ``timm:NAME``."""
    return ":" in name


def is_import_path(name: str) -> bool:
    """Whether to make this backbone imports a module that is neither podium's nor timm's."""
    return is_external(name) and not name.startswith(TIMM)


@cache
def backbone_facts(name: str) -> BackboneFacts | None:
    """The facts of a backbone of podium; None for a foreign one, known only when a trial starts.

    Raises:
        TrialInputError: there is no such backbone, or the name has no legal form.
    """
    if not is_external(name):
        stated = {
            **literals("network", "backbone_base", "Backbone"),
            **literals("backbones", name),
        }
        return BackboneFacts(**{field.name: stated[field.name] for field in fields(BackboneFacts)})
    if _FOREIGN.fullmatch(name):
        return None
    raise TrialInputError(
        f"a backbone is a name, an import path package.module:Class, or timm:NAME; got {name!r}; "
        f"names: {', '.join(names('backbones'))}"
    )


def fine_tuning_problem(name: str, training: TrainingSettings) -> str | None:
    """Why a backbone cannot be fine-tuned as a recipe says; None if it can, as far as is known.

    Raises:
        TrialInputError: there is no such backbone.
    """
    if training.linear_warm_up_epochs >= training.epochs > 0:
        return (
            f"training.linear_warm_up_epochs must be below training.epochs, {training.epochs}; got"
            f" {training.linear_warm_up_epochs}"
        )
    facts = backbone_facts(name)
    if is_external(name) or (facts is not None and "timm" in facts.packages):
        if training.lora_rank and find_spec("peft") is None:
            return "training.lora_rank needs peft: pip install 'podium[lora]'"
        return None  # of an import path it is known when the network is made
    for setting in ("layer_decay", "lora_rank", "gradient_checkpointing"):
        if (value := getattr(training, setting)) != UNSET[setting]:
            return (
                f"training.{setting} is for networks of timm (timm:NAME, efficientnet_lite0); got"
                f" {value} for {name}"
            )
    return None
