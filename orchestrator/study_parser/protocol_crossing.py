"""Checks the protocols of a study together: all differ, and every setting has an effect."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

from podium.orchestrator.study.blocks import blocks
from podium.orchestrator.study.dataset_facts import dataset_facts
from podium.orchestrator.study.study import Search, Study
from podium.orchestrator.study_parser.problems import Problems
from podium.trainables.dataset_interface.class_splits import validation_counts
from podium.trainables.errors import TrialInputError
from podium.trainables.settings.trial_settings import DatasetSettings, ProtocolSettings

_LONGEST_FOLDER = 240  # file systems take 255 bytes


def without_labels(protocol: ProtocolSettings) -> ProtocolSettings:
    """The protocol without name and file path, which change no number."""
    return replace(protocol, name="", classes_file=None)


def check_crossing(study: Study, problems: Problems) -> None:
    """Note protocols that split a data set alike, and settings that change nothing."""
    _check_final(study, problems)
    if problems.concern("protocol"):
        return
    _check_splits(study, problems)
    _check_folders(study, problems)
    if not problems.concern("datasets"):
        for dataset in study.datasets:
            _check_difference(study, dataset, problems)


def _check_final(study: Study, problems: Problems) -> None:
    if study.final.protocol is None or problems.concern("final"):
        return
    if "part" not in study.final.train_on:
        rule = (
            "final.protocol is used for final.train_on part only, which is not in final.train_on"
        )
        problems.add("final.protocol", rule, got=study.final.protocol.kind)


def _check_splits(study: Study, problems: Problems) -> None:
    path = "search.splits"
    if study.search.splits != "fresh" or problems.concern(path, "search.repeats", "final"):
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
    """Note losses whose searches would have too long a folder name."""
    if problems.concern("datasets", "backbones", "losses", "image_sizes"):
        return
    last = study.search.repeats - 1
    for index, loss in enumerate(study.loss_names):
        named = [
            Search(block=block, loss=loss, protocol=protocol.label, repeat=last)
            for block in blocks(study)
            for protocol in study.protocols
        ]
        # No block if image files were given no size, which is reported elsewhere.
        longest = max((search.id for search in named), key=len, default="")
        if len(longest) > _LONGEST_FOLDER:
            rule = (
                "data set, network, loss and protocol name the folder of a search: shorten one of "
                f"them; together they may have {_LONGEST_FOLDER} characters"
            )
            problems.add(("losses", index), rule, got=len(longest))


def _check_difference(study: Study, dataset: DatasetSettings, problems: Problems) -> None:
    """Note protocols of equal splits: their searches would have the same trials."""
    for (_, one), (index, other) in itertools.combinations(enumerate(study.protocols), 2):
        if _split_key(one, dataset) == _split_key(other, dataset):
            rule = (
                f"protocols {one.label} and {other.label} hold out the same classes of "
                f"{dataset.label}"
            )
            problems.add(("protocol", index), rule)


def _split_key(protocol: ProtocolSettings, dataset: DatasetSettings) -> tuple[object, ...]:
    """What determines its splits: kind, seed, and number of validation classes."""
    counts: Sequence[int] | str
    try:
        counts = validation_counts(dataset_facts(dataset).num_train_classes, protocol)
    except TrialInputError:  # reported where data sets and fractions are checked
        counts = protocol.label
    return counts, replace(without_labels(protocol), val_fraction=None)
