"""Names of recipes and search spaces that have changed; the former ones are still accepted."""

import logging
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

FORMER_RECIPES: Mapping[str, str] = MappingProxyType(
    {"thesis": "psomas2020", "thesis_code": "psomas2020_code"}
)
FORMER_SPACES: Mapping[str, str] = MappingProxyType({"thesis": "psomas2020"})

_log = logging.getLogger("podium.study")


def present_name(given: str, former: Mapping[str, str], where: str) -> str:
    """What is called ``given`` now; a former name is noted on standard error, once in a process.

    Args:
        given: a present or a former name.
        former: former name -> present name.
        where: what names it, such as ``study.yaml:7: training.recipe``.
    """
    if given not in former:
        return given
    _note(given, former[given], where)
    return former[given]


def with_present_names(resolved: Mapping[str, Any]) -> Mapping[str, Any]:
    """A resolved study, perhaps of an earlier podium, with the names of this one."""
    search, training = resolved["search"], resolved["training"]
    space, recipe = search["space"], training["recipe"]
    return {
        **resolved,
        "search": {**search, "space": FORMER_SPACES.get(space, space)},
        "training": {**training, "recipe": FORMER_RECIPES.get(recipe, recipe)},
    }


@cache
def _note(former: str, present: str, where: str) -> None:
    _log.warning("%s: %s is called %s now", where, former, present)
