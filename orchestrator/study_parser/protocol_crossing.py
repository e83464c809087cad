"""Judges how a study crosses its protocols: they must differ, and each setting do something."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

from orchestrator.study.blocks import blocks
from orchestrator.study.dataset_facts import dataset_facts
from orchestrator.study.study import Search, Study
from orchestrator.study_parser.problems import Path, Problems
from trainables.dataset_interface.class_splits import validation_counts
from trainables.errors import TrialInputError
from trainables.settings.trial_settings import DatasetSettings, ProtocolSettings

__all__ = ["check_crossing", "judges_as"]

_LONGEST_FOLDER = 240  # file systems take 255 bytes


def judges_as(protocol: ProtocolSettings) -> ProtocolSettings:
    """The protocol without what changes no number."""
    return replace(protocol, name="", classes_file=None)


def check_crossing(study: Study, problems: Problems) -> None:
    """Note protocols that part some data set alike, and settings that change nothing."""
    _check_final(study, problems)
    if problems.concern(("protocol",)):
        return
    _check_splits(study, problems)
    _check_folders(study, problems)
    if not problems.concern(("datasets",)):
        for dataset in study.datasets:
            _check_difference(study, dataset, problems)


def _check_final(study: Study, problems: Problems) -> None:
    path: Path = ("final", "protocol")
    if study.final.protocol is None or problems.concern(("final",)):
        return
    if "part" not in study.final.train_on:
        rule = "final.protocol parts classes for final.train_on part, which is not asked for"
        problems.add(path, rule, got=study.final.protocol.kind)


def _check_splits(study: Study, problems: Problems) -> None:
    path: Path = ("search", "splits")
    if study.search.splits != "fresh" or problems.concern(path, ("search", "repeats"), ("final",)):
        return
    if study.search.repeats == 1:
        rule = (
            "search.splits fresh gives each repeat splits of its own, and search.repeats is 1 "
            "(it may become fresh when there are more)"
        )
        problems.add(path, rule, got="fresh")
    protocols = [*study.protocols, study.final.protocol]
    if not any(protocol is not None and protocol.is_seeded for protocol in protocols):
        rule = "search.splits fresh needs a protocol with a split_seed"
        kinds = ", ".join(sorted({protocol.kind for protocol in study.protocols}))
        problems.add(path, rule, got=kinds)


def _check_folders(study: Study, problems: Problems) -> None:
    """The names of all that a search crosses make the name of its folder."""
    if problems.concern(("datasets",), ("backbones",), ("losses",), ("image_sizes",)):
        return
    for index, loss in enumerate(study.losses):
        named = [
            Search(block=block, loss=loss, protocol=protocol.label, repeat=study.search.repeats)
            for block in blocks(study)
            for protocol in study.protocols
        ]
        # No block where data sets of image files were given no size, which is told elsewhere.
        longest = max((search.id for search in named), key=len, default="")
        if len(longest) > _LONGEST_FOLDER:
            rule = (
                "data set, network, loss and protocol name the folder of a search: shorten one of "
                f"them; together they may have {_LONGEST_FOLDER} characters"
            )
            problems.add(("losses", index), rule, got=len(longest))


def _check_difference(study: Study, dataset: DatasetSettings, problems: Problems) -> None:
    """Two searches of the same splits would be one search, and their trials the same trials."""
    for (_, one), (index, other) in itertools.combinations(enumerate(study.protocols), 2):
        if _counted(one, dataset) == _counted(other, dataset):
            rule = (
                f"protocols {one.label} and {other.label} hold out the same classes of "
                f"{dataset.label}"
            )
            problems.add(("protocol", index), rule)


def _counted(protocol: ProtocolSettings, dataset: DatasetSettings) -> tuple[object, ...]:
    """What decides its splits: kind, seed, and how many classes a fraction comes to."""
    counts: Sequence[int] | str
    try:
        counts = validation_counts(dataset_facts(dataset).num_train_classes, protocol)
    except TrialInputError:  # told where data sets and fractions are checked
        counts = protocol.label
    return counts, replace(judges_as(protocol), val_fraction=None)
