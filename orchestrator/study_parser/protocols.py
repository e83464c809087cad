"""Reads the validation protocols of a study file: ``protocol`` and ``final.protocol``."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from orchestrator.folder_names import NAME, NAME_RULE
from orchestrator.study.study import Study
from orchestrator.study_parser.file_paths import read_path
from orchestrator.study_parser.problems import Path, Problems
from orchestrator.study_parser.protocol_crossing import without_labels
from orchestrator.study_parser.text_files import MAX_TABLE_BYTES, UnreadableError, read_text
from orchestrator.study_parser.yaml_section import MAX_CROSSED, Section, label
from trainables.settings.legal_ranges import MAX_SEED
from trainables.settings.trial_settings import ProtocolKind, ProtocolSettings

_KEYS = ("name", "kind", "val_fraction", "folds", "repeats", "classes_file", "split_seed")

_MAX_FOLDS = 10_000

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
# refit trains on every class, so no search can validate: final.train_on all asks for it.
_OF_SEARCHES = tuple(kind for kind in get_args(ProtocolKind) if kind != "refit")
# Finalists are tested once, at an epoch that no test class chose.
_OF_FINALS = tuple(kind for kind in _OF_SEARCHES if kind != "test_tuned")


def read_protocols(top: Section, problems: Problems) -> tuple[ProtocolSettings, ...]:
    """One mapping, or a list of them with different labels, as far as they can be read."""
    node = top.node("protocol")
    if node is not None and not isinstance(node.value, dict | list):
        rule = "protocol must be a mapping such as {kind: kfold}, or a list of these"
        problems.add(("protocol",), rule, got=node.plain())
        return (ProtocolSettings(),)
    if node is None or not isinstance(node.value, list):
        return (_protocol(top.section("protocol", _KEYS), problems, _OF_SEARCHES),)
    found: list[ProtocolSettings] = []
    for path, item in top.items("protocol", most=MAX_CROSSED):
        section = Section(item, path, problems, _KEYS)
        protocol = _protocol(section, problems, _OF_SEARCHES)
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
    final: Section, problems: Problems, split_seed: int
) -> ProtocolSettings | None:
    """The protocol of finals; None if it is that of their search.

    Args:
        final: section ``final``.
        problems: collects what is wrong.
        split_seed: split seed if the section gives none.
    """
    if final.is_null("protocol"):
        return None
    section = final.section(
        "protocol", _KEYS[1:]
    )  # without name: rows have that of the search's protocol
    return _protocol(section, problems, _OF_FINALS, split_seed)


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


def _protocol(
    section: Section,
    problems: Problems,
    kinds: Sequence[ProtocolKind],
    split_seed: int = 0,
) -> ProtocolSettings:
    """One protocol; notes what is wrong, such as keys that its kind does not take."""
    kind = section.choice("kind", "fixed", kinds)
    name = section.text("name", "")
    if section.is_wrong("kind") or section.is_wrong("name"):
        return ProtocolSettings()
    if name and not NAME.fullmatch(name):
        rule = f"the name of a protocol names folders: {NAME_RULE}"
        problems.add((*section.path, "name"), rule, got=name)
        return ProtocolSettings()
    if name in get_args(ProtocolKind) and name != kind:
        rule = f"the name of a protocol of kind {kind} must not be another kind"
        problems.add((*section.path, "name"), rule, got=name)
        return ProtocolSettings()
    takes = _TAKES[kind]
    for key in _KEYS:
        if key not in ("kind", "name", *takes) and not section.is_null(key):
            shown = " and ".join(name for name in takes if name != _SEED) or "nothing"
            path = (*section.path, key)
            problems.add(
                path, f"{label(path)} cannot be combined with kind {kind}, which takes {shown}"
            )
    if kind == "published":
        return replace(_published(section, problems), name=name)
    return ProtocolSettings(
        kind=kind,
        name=name,
        val_fraction=(
            section.number(_FRACTION, 0.1, above=0.0, below=1.0) if _FRACTION in takes else None
        ),
        folds=section.integer("folds", 10, low=2, high=_MAX_FOLDS) if "folds" in takes else None,
        repeats=section.integer("repeats", 2, low=2, high=_MAX_FOLDS)
        if "repeats" in takes
        else None,
        split_seed=section.integer(_SEED, split_seed, low=0, high=MAX_SEED)
        if _SEED in takes
        else 0,
    )


def _published(section: Section, problems: Problems) -> ProtocolSettings:
    """The protocol with the names from its file, so that trials do not need the file."""
    key = (*section.path, "classes_file")
    if section.is_null("classes_file"):
        problems.add(
            section.path, f"{label(key)} must be given: kind published validates its classes"
        )
        return ProtocolSettings()
    path = read_path(section, "classes_file", problems)
    if path is None:
        return ProtocolSettings()
    try:
        lines = read_text(path, MAX_TABLE_BYTES).splitlines()
    except UnreadableError as error:
        problems.add(key, f"{label(key)} cannot be read: {error}", got=path)
        return ProtocolSettings()
    names = [line.strip() for line in lines if line.strip()]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        problems.add(key, f"{label(key)} names a class more than once", got=twice[0])
        return ProtocolSettings()
    return ProtocolSettings(
        kind="published",
        val_fraction=None,
        classes_file=path,
        val_classes=tuple(sorted(names)),
    )
