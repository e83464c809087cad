"""What is known of a backbone before torch is loaded, for plans."""

import re
from dataclasses import dataclass, fields
from functools import cache

from trainables.errors import TrialInputError
from trainables.registry import literals, names

__all__ = ["TIMM", "BackboneFacts", "backbone_facts", "is_foreign"]

TIMM = "timm:"

_FOREIGN = re.compile(r"timm:[A-Za-z0-9_.\-]+|[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True, kw_only=True)
class BackboneFacts:
    """What a backbone's class states of itself; `trainables.backbones._base.Backbone` explains."""

    has_map: bool
    published_weights: tuple[str, ...]
    weights_note: str
    side_multiple: int
    min_side: int
    takes_features: bool

    def size_problem(self, name: str, image_size: int) -> str | None:
        """Why the network called ``name`` does not take square images of this side, or None."""
        if image_size % self.side_multiple:
            rule = f"a multiple of {self.side_multiple}"
        elif image_size < self.min_side:
            rule = f"at least {self.min_side}"
        else:
            return None
        return f"the image size for {name} must be {rule}; got {image_size}"


def is_foreign(name: str) -> bool:
    """Whether a backbone is not podium's own: ``package.module:Class`` or ``timm:NAME``."""
    return ":" in name


@cache
def backbone_facts(name: str) -> BackboneFacts | None:
    """The facts of a backbone of podium; None for a foreign one, known only when a trial starts.

    Raises:
        TrialInputError: there is no such backbone, or the name has no legal form.
    """
    if not is_foreign(name):
        stated = {**literals("backbones", "_base", "Backbone"), **literals("backbones", name)}
        return BackboneFacts(**{field.name: stated[field.name] for field in fields(BackboneFacts)})
    if _FOREIGN.fullmatch(name):
        return None
    raise TrialInputError(
        f"a backbone is a name, an import path package.module:Class, or timm:NAME; got {name!r}; "
        f"names: {', '.join(names('backbones'))}"
    )
