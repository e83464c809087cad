"""Checks that no split of a study has a class on two sides, before any data is loaded.

Class names are not known yet, only their number: splits are drawn for as many placeholder names.
With the real names, labels and images the check is repeated when trials start
(`trainables.batches.leakage_guard`). Of many folds only the first are drawn, so that
the plan of a large data set takes no longer than others.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.study.dataset_facts import dataset_facts
from orchestrator.study.study import Study
from trainables.dataset_interface.class_splits import assert_class_disjoint, make_split
from trainables.settings.trial_settings import DatasetSettings, ProtocolSettings

_MOST_CLASSES = 20_000  # to assign to the folds of one protocol: about 0.03 s
_LEAST_FOLDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakageCheck:
    """Which splits were checked, and which leak by declaration.

    Attributes:
        num_splits: number of splits drawn and checked.
        leaking: labels of the protocols that validate on the test classes.
        by_name: labels of the protocols whose classes are listed by name, checked at the start.
    """

    num_splits: int
    leaking: tuple[str, ...]
    by_name: tuple[str, ...]


def check_leakage(study: Study) -> LeakageCheck:
    """Draw the splits of every protocol, and refuse one with a class on two sides.

    Raises:
        TrialInputError: names the sides and the classes they share.
    """
    finals = [] if study.final.protocol is None else [study.final.protocol]
    protocols = (*study.protocols, *finals)
    checked = [
        split_of
        for dataset in study.datasets
        for protocol in protocols
        for split_of in _checked(dataset, protocol)
    ]
    return LeakageCheck(
        num_splits=len(checked),
        leaking=tuple(protocol.label for protocol in protocols if protocol.leaks),
        by_name=tuple(item.label for item in protocols if item.kind == "published"),
    )


def _checked(dataset: DatasetSettings, protocol: ProtocolSettings) -> Iterator[str]:
    """The hash of each split of a protocol over a data set, once it is checked."""
    if protocol.kind == "published" or protocol.leaks:
        return
    facts = dataset_facts(dataset)
    train = [f"training class {index}" for index in range(facts.num_train_classes)]
    test = [f"test class {index}" for index in range(facts.num_test_classes)]
    draw = "plan" if protocol.kind == "random_splits" else ""
    most = max(_LEAST_FOLDS, _MOST_CLASSES // len(train))
    for fold in range(min(protocol.num_folds, most)):
        split = make_split(train, protocol, fold, draw)
        assert_class_disjoint(split, test)
        yield split.hash
