"""Reads the validation protocols of a study file: ``protocol`` and ``final.protocol``."""

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, StrictFloat, StrictInt

from orchestrator.folder_names import NAME, NAME_RULE
from orchestrator.results.records.study_keys import Text
from orchestrator.study.study import Seed, Study
from orchestrator.study_parser.file_paths import read_path
from orchestrator.study_parser.problems import Problems, label
from orchestrator.study_parser.protocol_crossing import without_labels
from orchestrator.study_parser.read_keys import MAX_CROSSED, read_items, read_keys
from orchestrator.study_parser.text_files import MAX_TABLE_BYTES, UnreadableError, read_text
from orchestrator.study_parser.yaml_tree import Path
from trainables.settings.trial_settings import ProtocolKind, ProtocolSettings

_Folds = Annotated[StrictInt, Field(ge=2, le=10_000)]

_FRACTION, _SEED = "val_fraction", "split_seed"
_TAKES: dict[ProtocolKind, tuple[str, ...]] = {
    "fixed": (_FRACTION, _SEED),
    "kfold": ("folds", _SEED),
    "random_splits": (_FRACTION, _SEED),
    "repeated_kfold": ("folds", "repeats", _SEED),
    "published": ("classes_file",),
    "test_tuned": (),
    "refit": (),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keys:
    val_fraction: Annotated[StrictFloat, Field(gt=0, lt=1)] = 0.1
    folds: _Folds = 10
    repeats: _Folds = 2
    classes_file: Text = ""
    split_seed: Seed = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfSearches(_Keys):
    """refit trains on every class, so no search can validate: final.train_on all asks for it."""

    name: Text = ""
    kind: Literal[
        "fixed", "kfold", "random_splits", "repeated_kfold", "published", "test_tuned"
    ] = "fixed"


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfFinals(_Keys):
    """Finalists are tested once, at an epoch that no test class chose.

    They have no name: rows have that of the search's protocol.
    """

    kind: Literal["fixed", "kfold", "random_splits", "repeated_kfold", "published"] = "fixed"


def read_protocols(values: object, problems: Problems) -> tuple[ProtocolSettings, ...]:
    """One mapping, or a list of them with different labels, as far as they can be read."""
    if not isinstance(values, dict | list):
        rule = "protocol must be a mapping such as {kind: kfold}, or a list of these"
        problems.add(("protocol",), rule, got=values)
        return (ProtocolSettings(),)
    if isinstance(values, dict):
        return (_protocol_of_search(values, ("protocol",), problems),)
    found: list[ProtocolSettings] = []
    for path, item in read_items(values, ("protocol",), problems, most=MAX_CROSSED):
        protocol = _protocol_of_search(item, path, problems)
        if problems.concern(path):
            continue
        same = [other for other in found if without_labels(other) == without_labels(protocol)]
        if same:
            rule = (
                f"{label(path)} is in the list already: it splits the classes as {same[0].label}"
                " does"
            )
            problems.add(path, rule)
        elif protocol.label.lower() in [other.label.lower() for other in found]:  # also as folders
            rule = f"the protocols of a study need different names: give {label(path)} its own"
            problems.add(path, rule, got=protocol.label)
        else:
            found.append(protocol)
    return tuple(found) or (ProtocolSettings(),)


def read_final_protocol(
    values: object, problems: Problems, split_seed: int
) -> ProtocolSettings | None:
    """The protocol of finals; None if it is that of their search.

    Args:
        values: what is given under ``final.protocol``.
        problems: collects what is wrong.
        split_seed: split seed if none is given.
    """
    if values is None:
        return None
    path = ("final", "protocol")
    given = {"split_seed": split_seed, **values} if isinstance(values, dict) else values
    keys = read_keys(_OfFinals, _without_unused(given), path, problems)
    return _protocol(keys, "", values, path, problems)


def protocols_with_paths(
    study: Study, problems: Problems
) -> tuple[tuple[Path, ProtocolSettings], ...]:
    """Path and settings of every protocol that was read without a problem."""
    of_finals = [] if study.final.protocol is None else [study.final.protocol]
    is_list = len(study.protocols) > 1
    places: list[tuple[Path, ProtocolSettings]] = [
        *(
            (("protocol", index) if is_list else ("protocol",), protocol)
            for index, protocol in enumerate(study.protocols)
        ),
        *((("final", "protocol"), protocol) for protocol in of_finals),
    ]
    return tuple((path, protocol) for path, protocol in places if not problems.concern(path[:1]))


def _protocol_of_search(values: object, path: Path, problems: Problems) -> ProtocolSettings:
    keys = read_keys(_OfSearches, _without_unused(values), path, problems)
    name_path = (*path, "name")
    if keys.name and not NAME.fullmatch(keys.name):
        rule = f"the name of a protocol names folders: {NAME_RULE}"
        problems.add(name_path, rule, got=keys.name)
    elif keys.name in get_args(ProtocolKind) and keys.name != keys.kind:
        rule = f"the name of a protocol of kind {keys.kind} must not be another kind"
        problems.add(name_path, rule, got=keys.name)
    return _protocol(keys, keys.name, values, path, problems)


def _without_unused(values: object) -> object:
    """The values without null for what a kind does not take."""
    if not isinstance(values, dict):
        return values
    takes = _TAKES.get(values.get("kind", "fixed"), ())
    return {
        key: it for key, it in values.items() if it is not None or key in ("kind", "name", *takes)
    }


def _protocol(
    keys: _OfSearches | _OfFinals, name: str, values: Any, path: Path, problems: Problems
) -> ProtocolSettings:
    """One protocol; notes keys that its kind does not take.

    Args:
        keys: its keys.
        name: what it is called.
        values: what is given.
        path: keys to it.
        problems: collects what is wrong.
    """
    kind = keys.kind
    if problems.concern((*path, "kind"), (*path, "name")) or not isinstance(values, dict):
        return ProtocolSettings()
    takes = _TAKES[kind]
    for key in _Keys.__dataclass_fields__:
        if key not in takes and values.get(key) is not None:
            shown = " and ".join(name for name in takes if name != _SEED) or "nothing"
            rule = f"cannot be combined with kind {kind}, which takes {shown}"
            problems.add((*path, key), f"{label((*path, key))} {rule}")
    if kind == "published":
        return _published(keys.classes_file, name, path, problems)
    return ProtocolSettings(
        kind=kind,
        name=name,
        val_fraction=keys.val_fraction if _FRACTION in takes else None,
        folds=keys.folds if "folds" in takes else None,
        repeats=keys.repeats if "repeats" in takes else None,
        split_seed=keys.split_seed if _SEED in takes else 0,
    )


def _published(given: str, name: str, path: Path, problems: Problems) -> ProtocolSettings:
    """The protocol with the names from its file, so that trials do not need the file."""
    key = (*path, "classes_file")
    if not given and not problems.concern(key):
        rule = f"{label(key)} must be given: kind published validates its classes"
        problems.add(path, rule)
    file = read_path(given, key, problems) if given else ""
    if problems.concern(path):
        return ProtocolSettings()
    try:
        lines = read_text(file, MAX_TABLE_BYTES).splitlines()
    except UnreadableError as error:
        problems.add(key, f"{label(key)} cannot be read: {error}", got=file)
        return ProtocolSettings()
    names = [line.strip() for line in lines if line.strip()]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        problems.add(key, f"{label(key)} names a class more than once", got=twice[0])
        return ProtocolSettings()
    return ProtocolSettings(
        kind="published",
        name=name,
        val_fraction=None,
        classes_file=file,
        val_classes=tuple(sorted(names)),
    )
