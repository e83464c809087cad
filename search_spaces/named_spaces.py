"""The search spaces by name."""

from collections.abc import Mapping

from podium.search_spaces.joint import JOINT
from podium.search_spaces.parameters import Ranges
from podium.search_spaces.psomas2020 import PSOMAS2020
from podium.search_spaces.reality_check import REALITY_CHECK

NAMED_SPACES: Mapping[str, Mapping[str, Ranges]] = {
    "joint": JOINT,
    "psomas2020": PSOMAS2020,
    "reality_check": REALITY_CHECK,
}
"""Name -> loss -> hyperparameter -> what is tried of it. ``joint`` is the default."""
