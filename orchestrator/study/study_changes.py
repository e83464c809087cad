"""What changed between two resolved studies, and whether one results folder can hold both.

Between two runs of a study its resources and budget may change, and its work may only grow.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium.trainables.settings.trial_settings import LOCATION_OPTIONS

# Changes of keys that begin so change no number.
_FREE = (
    "budget.",
    "declared_differences.",
    "expect",
    "keep.",
    "resources.",
    "final.protocol.classes_file",  # what was in the file is in val_classes
    "protocol.classes_file",
    "search.max_concurrent",
    "search.population",
    "storage",
    "tournament.test",  # reported beside the verdict
)
# What they hold for a loss is one value: its keys are names of hyperparameters.
_OF_LOSSES = ("spaces.", "values.", "warm_starts.")
_GROWING_COUNTS = ("search.trials", "search.repeats", "final.seeds")
_GROWING_LISTS = ("embedding_dims", "final.train_on", "image_sizes", "losses")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One key in which two resolved studies differ; None where a study does not have it."""

    key: str
    old: Any
    new: Any

    def __str__(self) -> str:
        old, new = (json.dumps(value, ensure_ascii=False) for value in (self.old, self.new))
        return f"{self.key}: {old} -> {new}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How a study differs from the snapshot in its results folder.

    Attributes:
        harmless: differences that add work or change no number.
        forbidden: differences that would change numbers already in the results folder.
    """

    harmless: tuple[Difference, ...]
    forbidden: tuple[Difference, ...]

    @property
    def is_identical(self) -> bool:
        """Whether nothing differs."""
        return not self.harmless and not self.forbidden

    @property
    def is_compatible(self) -> bool:
        """Whether a run of the new study may continue the results folder."""
        return not self.forbidden


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> Change:
    """What changed between two resolved studies, and whether it may."""
    before, after = (_flat(_with_single_protocol(values, old, new)) for values in (old, new))
    known = set(old["losses"])
    harmless: list[Difference] = []
    forbidden: list[Difference] = []
    for key in sorted(before.keys() | after.keys()):
        difference = Difference(key=key, old=before.get(key), new=after.get(key))
        if difference.old == difference.new:
            continue
        if key == "protocols" and (changed := _protocol_differences(difference)):
            forbidden += changed
            continue
        # Splits may become fresh before there is a second repeat; the first one's stay.
        is_first = key == "search.splits" and old["search"]["repeats"] == 1
        may = is_first or _is_harmless(difference, known)
        (harmless if may else forbidden).append(difference)
    return Change(harmless=tuple(harmless), forbidden=tuple(forbidden))


def _protocol_differences(protocols: Difference) -> list[Difference]:
    """Forbidden changes of several protocols, each by its label; others may be added."""
    old, new = (
        {item["name"] or item["kind"]: _stated(_protocol_anywhere(item)) for item in items}
        for items in (protocols.old, protocols.new)
    )
    changed = [
        Difference(key=f"protocol {label}", old=stated, new=new.get(label))
        for label, stated in old.items()
        if new.get(label) != stated
    ]
    # Untrained networks are tested under the first protocol.
    first, now = next(iter(old)), next(iter(new))
    if first != now and first in new:
        changed.append(Difference(key="first protocol", old=first, new=now))
    return changed


def _stated(protocol: Mapping[str, Any]) -> dict[str, Any]:
    """A protocol without keys that have no value."""
    return {
        key: value for key, value in sorted(protocol.items()) if value is not None and value != ""
    }


def _with_single_protocol(
    values: Mapping[str, Any], old: Mapping[str, Any], new: Mapping[str, Any]
) -> Mapping[str, Any]:
    """If neither study has a second protocol, put the single one where it is compared by key."""
    if len(old["protocols"]) > 1 or len(new["protocols"]) > 1:
        return values
    return {**values, "protocols": None, "protocol": values["protocols"][0]}


def _is_harmless(difference: Difference, known_names: set[str]) -> bool:
    """Known are the losses of the old study."""
    key, old, new = difference.key, difference.old, difference.new
    if key.startswith(_FREE):
        return True
    if key in _GROWING_COUNTS:
        return bool(new > old)
    if key in _ANYWHERE:
        anywhere = _ANYWHERE[key]
        return all(item in map(anywhere, new) for item in map(anywhere, old))
    if key in _GROWING_LISTS:
        return all(item in new for item in old)
    section, _, loss = key.partition(".")
    if key == "search.warm_start.folder":
        return bool(old and new)  # what was found there is in the study
    if section in ("code", "warm_starts"):
        return old is None  # of losses and blocks that are new
    if key.startswith("tournament.groups.") and old is not None and new is not None:
        return set(old) <= set(new) and not (set(new) - set(old)) & known_names
    return section in ("spaces", "values") and loss not in known_names


def _backbone_anywhere(backbone: Mapping[str, Any]) -> dict[str, Any]:
    """The backbone without the path of its weights; their content is part of trial ids."""
    is_file = Path(backbone["weights"]).is_absolute()
    return {**backbone, "weights": "a file" if is_file else backbone["weights"]}


def _dataset_anywhere(dataset: Mapping[str, Any]) -> dict[str, Any]:
    """The data set without the paths of its files, which may have been moved."""
    options = {
        name: value for name, value in dataset["options"].items() if name not in LOCATION_OPTIONS
    }
    # Label distances change the task of a data set, wherever their file is.
    continuous = "label_distances" in dataset["options"]
    return {**dataset, "options": options, "continuous": continuous}


def _protocol_anywhere(protocol: Mapping[str, Any]) -> dict[str, Any]:
    """The protocol without the file its classes were read from."""
    return {**protocol, "classes_file": None}


_ANYWHERE: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "datasets": _dataset_anywhere,
    "backbones": _backbone_anywhere,
    "protocols": _protocol_anywhere,
}


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Dotted key -> value. Lists are values; so is what the study says of a loss."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping) and prefix not in _OF_LOSSES:
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat
