"""The backbones as parameters of tests that take long; twins of others are left to the soak."""

from collections.abc import Iterable

from podium.trainables.registry import names
from tests.soak import soak

# The same code with more layers or smaller patches -> what is tested in its place.
TWINS = {
    "mobilenet_v3_large": "mobilenet_v3_small",
    "resnet101": "resnet50",
    "vit_b_16": "vit_b_32",
}


def backbones(among: Iterable[str] = names("backbones")) -> list:
    """These backbones, the twins as parameters marked ``soak``."""
    return [each for name in among for each in (soak(name) if name in TWINS else [name])]
