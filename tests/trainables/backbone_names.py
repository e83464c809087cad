"""The backbones as parameters of tests that take long; twins of others are left to the soak."""

from collections.abc import Iterable
from importlib.util import find_spec

import pytest

from podium.trainables.network.backbone_facts import backbone_facts
from podium.trainables.registry import names
from tests.soak import soak

# The same code with more layers -> what is tested in its place.
TWINS = {
    "efficientnet_lite1": "efficientnet_lite0",
    "efficientnet_lite2": "efficientnet_lite0",
    "mobilenet_v3_large": "mobilenet_v3_small",
    "resnet101": "resnet50",
}


def backbones(among: Iterable[str] = names("backbones")) -> list:
    """These backbones, the twins as parameters marked ``soak``."""
    return [each for name in among for each in (soak(name) if name in TWINS else [made(name)])]


def made(name: str) -> object:
    """A backbone as a parameter, skipped where a package that it needs is not installed."""
    absent = [it for it in backbone_facts(name).packages if find_spec(it) is None]
    needs = pytest.mark.skipif(bool(absent), reason=f"needs {' and '.join(absent)}")
    return pytest.param(name, marks=needs)
