"""What changed between two resolved studies that one results folder cannot hold both of.

Between two runs of a study its resources and budget may change, and its work may only grow.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from podium.trainables.settings.trial_settings import LOCATION_OPTIONS

# Changes of keys that begin so change no number.
_FREE = (
    "budget.",
    "declared_differences.",
    "expect",
    "keep.",
    "labels.",
    "log",
    "resources.",
    "final.protocol.classes_file",  # what was in the file is in val_classes
    "search.max_concurrent",
    "search.population",
    "storage",
    "tournament.test",  # reported beside the verdict
)
_GROWING_COUNTS = ("search.trials", "search.repeats", "final.seeds")
_GROWING_LISTS = (
    *("backbones", "datasets", "embedding_dims", "final.train_on", "image_sizes", "losses"),
)
_FIRST_PROTOCOL = "first protocol"  # under which untrained networks are tested


def forbidden_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Changes that would change numbers already in a results folder: ``key: 1 -> 2``."""
    before, after = (
        _flat({**values, "protocols": None}) | _protocols(values["protocols"])
        for values in (old, new)
    )
    found = []
    for key in sorted(before.keys() | after.keys()):
        one, other = before.get(key), after.get(key)
        is_first = key == _FIRST_PROTOCOL and f"protocol {one}" not in after  # which is told
        if one != other and not is_first and not _is_allowed(key, one, other, old):
            shown = [json.dumps(value, ensure_ascii=False) for value in (one, other)]
            found.append(f"{key}: {' -> '.join(shown)}")
    return found


def _is_allowed(key: str, one: Any, other: Any, old: Mapping[str, Any]) -> bool:
    section, _, loss = key.partition(".")
    if key.startswith(_FREE):
        return True
    if key == "search.splits":  # before there is a second repeat; the first one's stay
        return bool(old["search"]["repeats"] == 1)
    if key == "search.warm_start.folder":
        return bool(one and other)  # what was found there is in the study
    if key in _GROWING_COUNTS:
        return bool(other > one)
    if key in _GROWING_LISTS:
        return all(it in map(_anywhere, other) for it in map(_anywhere, one))
    if section in ("code", "warm_starts") or key.startswith("protocol "):
        return one is None  # of losses, blocks and protocols that are new
    if key.startswith("tournament.groups.") and one is not None and other is not None:
        return set(one) <= set(other) and not (set(other) - set(one)) & set(old["losses"])
    return section in ("spaces", "values") and loss not in old["losses"]


def _protocols(protocols: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Each protocol by its label, without keys that have no value or tell where a file is."""
    stated = {
        f"protocol {item['name'] or item['kind']}": {
            key: value
            for key, value in sorted(item.items())
            if key != "classes_file" and value not in (None, "")
        }
        for item in protocols
    }
    return {**stated, _FIRST_PROTOCOL: next(iter(stated)).removeprefix("protocol ")}


def _anywhere(item: Any) -> Any:
    """A data set or backbone without the paths of its files, which may have been moved.

    The content of files is part of trial ids. Label distances change the task of a data set,
    wherever their file is.
    """
    if not isinstance(item, Mapping):
        return item
    if "weights" in item:
        is_file = Path(item["weights"]).is_absolute()
        return {**item, "weights": "a file" if is_file else item["weights"]}
    given = item["options"]
    options = {name: value for name, value in given.items() if name not in LOCATION_OPTIONS}
    return {**item, "options": options, "continuous": "label_distances" in given}


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Dotted key -> value. Lists are values; so is what the study says of a loss."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping) and prefix not in ("spaces.", "values.", "warm_starts."):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat
