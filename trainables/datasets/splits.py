"""Class-disjoint splits of the training classes, seeded and independent of the data's order."""

import hashlib
import itertools
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from trainables.errors import TrialInputError, unknown_name
from trainables.hashing import digest
from trainables.settings import ProtocolSettings

__all__ = [
    "Split",
    "assert_class_disjoint",
    "make_split",
    "protocol_hash",
    "seeded_order",
    "validation_counts",
]

# With one class in it every neighbour is of the right class and Recall@K is always 1; with one
# class to train on there are no negatives.
_MIN_VAL_CLASSES = 2
_MIN_TRAIN_CLASSES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The training classes of a data set, parted. Both sides are sorted class names.

    ``hash`` is that of the two sides: equal for equal splits, however they came about.
    """

    train: tuple[str, ...]
    val: tuple[str, ...]
    hash: str


def make_split(
    dataset_train_class_names: Sequence[str], protocol: ProtocolSettings, fold: int
) -> Split:
    """One split of a protocol; the same for any order of the class names.

    Classes are put into an order that depends on the split seed and their names alone. ``fixed``
    validates the first ``round(val_fraction * C)`` of them, ``kfold`` deals them out in turn, so
    that every class is validated by exactly one fold and the folds' sizes differ by at most one.

    Args:
        dataset_train_class_names: all C training classes; test classes must not be among them.
        protocol: kind, fraction or folds, and seed.
        fold: 0 for ``fixed``, 0 to folds - 1 for ``kfold``.

    Raises:
        TrialInputError: the protocol does not fit the number of classes, or there is no such fold.
    """
    names = _unique(dataset_train_class_names)
    counts = validation_counts(len(names), protocol)
    if not 0 <= fold < len(counts):
        raise TrialInputError(
            f"fold must be in 0..{len(counts) - 1} for protocol {protocol.kind!r}; got {fold}"
        )
    order = seeded_order(names, f"split {protocol.split_seed}")
    val = set(order[: counts[0]] if protocol.kind == "fixed" else order[fold :: len(counts)])
    sides = [name for name in names if name not in val], sorted(val)
    return Split(train=tuple(sides[0]), val=tuple(sides[1]), hash=digest(sides))


def validation_counts(num_classes: int, protocol: ProtocolSettings) -> tuple[int, ...]:
    """How many classes each fold validates; checks the protocol without any class names.

    Raises:
        TrialInputError: a fold would have fewer than 2 classes to validate or to train on, the
            kind is unknown, or its parameter (``val_fraction``, ``folds``) is out of range.
    """
    if protocol.kind == "fixed":
        fraction = protocol.val_fraction
        if fraction is None or not 0.0 < fraction < 1.0:
            raise TrialInputError(f"protocol.val_fraction must be in (0, 1); got {fraction}")
        counts: tuple[int, ...] = (round(fraction * num_classes),)
        value = f"val_fraction {fraction}"
    elif protocol.kind == "kfold":
        folds = protocol.folds
        if folds is None or folds < 2:
            raise TrialInputError(f"protocol.folds must be at least 2; got {folds}")
        counts = tuple(len(range(fold, num_classes, folds)) for fold in range(folds))
        value = f"folds {folds}"
    else:
        raise unknown_name("protocol kind", protocol.kind, ("fixed", "kfold"))
    if min(counts) < _MIN_VAL_CLASSES or num_classes - max(counts) < _MIN_TRAIN_CLASSES:
        raise TrialInputError(
            f"a split needs at least {_MIN_VAL_CLASSES} classes to validate and "
            f"{_MIN_TRAIN_CLASSES} to train; {value} of {num_classes} training classes leaves "
            f"{min(counts)} and {num_classes - max(counts)}"
        )
    return counts


def protocol_hash(dataset_train_class_names: Sequence[str], protocol: ProtocolSettings) -> str:
    """Hash of the protocol and the classes it parts; what competitors must have in common."""
    parameter = protocol.val_fraction if protocol.kind == "fixed" else protocol.folds
    names = _unique(dataset_train_class_names)
    return digest([protocol.kind, parameter, protocol.split_seed, names])


def assert_class_disjoint(split: Split, test_class_names: Collection[str]) -> None:
    """Refuse to train if any class is on two of the three sides: train, validation, test.

    Raises:
        TrialInputError: names the sides and the classes they share.
    """
    sides = {"training": split.train, "validation": split.val, "test": test_class_names}
    for (one, ones), (other, others) in itertools.combinations(sides.items(), 2):
        shared = sorted(set(ones) & set(others))
        if shared:
            raise TrialInputError(
                f"{one} and {other} classes must be disjoint; both have "
                f"{', '.join(shared[:5])}{', ...' if len(shared) > 5 else ''}"
            )


def seeded_order(names: Collection[str], seed: str) -> list[str]:
    """The names in pseudo-random order: by the hash of seed and name, whatever came before.

    A name added or removed leaves the order of the others as it was.
    """
    return sorted(names, key=lambda name: hashlib.sha256(f"{seed}\0{name}".encode()).digest())


def _unique(names: Sequence[str]) -> list[str]:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TrialInputError(f"class names must be unique; got {twice[0]!r} more than once")
    return sorted(names)
