"""Class-disjoint splits of the training classes, seeded and independent of the data's order."""

import hashlib
import itertools
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from podium.trainables.errors import TrialInputError, first_of, unknown_name
from podium.trainables.hashing import digest
from podium.trainables.settings.trial_settings import ProtocolKind, ProtocolSettings

# Kinds that train on all classes and so have no validation side.
_WHOLE = ("test_tuned", "refit")

# With one class in it every neighbour is of the right class and Recall@K is always 1; with one
# class to train on there are no negatives.
_MIN_VAL_CLASSES = 2
_MIN_TRAIN_CLASSES = 2
_MIN_TEST_CLASSES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The training classes of a data set, parted. Both sides are sorted class names.

    ``hash`` is that of the two sides: equal for equal splits, however they came about. Where
    nothing is held out it is also that of the kind, since what is validated then differs.
    """

    train: tuple[str, ...]
    val: tuple[str, ...]
    hash: str


def make_split(
    dataset_train_class_names: Sequence[str],
    protocol: ProtocolSettings,
    fold: int,
    draw: str = "",
) -> Split:
    """One split of a protocol; the same for any order of the class names.

    Classes are put into an order that depends on the split seed and their names alone. ``fixed``
    validates the first ``round(val_fraction * C)`` of them, ``kfold`` deals them out in turn, so
    that every class is validated by exactly one fold and the folds' sizes differ by at most one.
    The order of ``random_splits`` also depends on the draw, that of ``repeated_kfold`` on the
    repetition; its first repetition is ``kfold``. ``published`` needs no order: a class that is
    added to the data set is trained on, and the others stay where they were. ``test_tuned`` and
    ``refit`` train on all classes; their validation side is empty.

    Args:
        dataset_train_class_names: names of all C training classes, without test classes.
        protocol: kind, fraction or folds, and seed.
        fold: 0 to folds - 1 for ``kfold``, repetition x folds + fold for ``repeated_kfold``, else
            0.
        draw: any text for ``random_splits``, empty for the others.

    Raises:
        TrialInputError: the protocol does not fit the classes, there is no such fold, or a draw
            is missing or too much.
    """
    names = _unique(dataset_train_class_names)
    counts = validation_counts(len(names), protocol)
    if not 0 <= fold < len(counts):
        raise TrialInputError(
            f"fold must be in 0..{len(counts) - 1} for protocol {protocol.kind!r}; got {fold}"
        )
    if (protocol.kind == "random_splits") != bool(draw):
        raise TrialInputError(
            f"random_splits needs a draw, other protocols none; got {draw!r} for {protocol.kind!r}"
        )
    if protocol.kind in _WHOLE:
        return Split(train=tuple(names), val=(), hash=digest([names, [], protocol.kind]))
    val = set(_val_classes(names, protocol, fold, counts[fold], draw))
    sides = [name for name in names if name not in val], sorted(val)
    return Split(train=tuple(sides[0]), val=tuple(sides[1]), hash=digest(sides))


def validation_counts(num_classes: int, protocol: ProtocolSettings) -> tuple[int, ...]:
    """How many training classes each fold validates, without knowing their names.

    That is 0 for the one fold of ``test_tuned`` and of ``refit``, which hold none out.

    Raises:
        TrialInputError: a fold would have fewer than 2 classes to validate or to train on, the
            kind is unknown, or its parameter (``val_fraction``, ``folds``, ``repeats``,
            ``val_classes``) is out of range.
    """
    if protocol.kind in _WHOLE:
        if num_classes < _MIN_TRAIN_CLASSES:
            raise TrialInputError(
                f"training needs at least {_MIN_TRAIN_CLASSES} classes; got {num_classes}"
            )
        return (0,)
    counts, value = _unchecked_counts(num_classes, protocol)
    if min(counts) < _MIN_VAL_CLASSES or num_classes - max(counts) < _MIN_TRAIN_CLASSES:
        raise TrialInputError(
            f"a split needs at least {_MIN_VAL_CLASSES} classes to validate and "
            f"{_MIN_TRAIN_CLASSES} to train; {value} of {num_classes} training classes leaves "
            f"{min(counts)} and {num_classes - max(counts)}{_fitting(num_classes, protocol)}"
        )
    return counts


def fitting_val_fraction(num_classes: int, wanted: float) -> float | None:
    """The ``val_fraction`` nearest to the wanted one that so many training classes allow.

    Args:
        num_classes: number of training classes, those of validation included.
        wanted: a share from 0 to 1, which is returned where it fits.

    Returns:
        None with fewer classes than both sides of a split need.
    """
    most = num_classes - _MIN_TRAIN_CLASSES
    if most < _MIN_VAL_CLASSES:
        return None
    count = min(max(round(wanted * num_classes), _MIN_VAL_CLASSES), most)
    if count == round(wanted * num_classes):
        return wanted
    return round(count / num_classes, max(4, len(str(num_classes))))


def refuse_too_few_classes(where: object, *, num_train: int, num_test: int) -> None:
    """Refuse images of which no study can be made.

    Args:
        where: their folder.
        num_train: number of classes to train and validate on.
        num_test: number of classes to test on.

    Raises:
        TrialInputError: a side has fewer classes than a split or a test needs.
    """
    least = _MIN_TRAIN_CLASSES + _MIN_VAL_CLASSES
    if num_train < least or num_test < _MIN_TEST_CLASSES:
        raise TrialInputError(
            f"{where}: {num_train} classes to train and validate on and {num_test} to test on are "
            f"too few: it takes {least} and {_MIN_TEST_CLASSES}, each a folder with images "
            "(without train and test, the classes are halved by name)"
        )


def _fitting(num_classes: int, protocol: ProtocolSettings) -> str:
    """Which values of the parameter fit, in words; empty for a list of classes."""
    if protocol.val_classes is not None:
        return ""
    least, most = (fitting_val_fraction(num_classes, wanted) for wanted in (0, 1))
    if least is None or most is None:
        return f": no split has as few as {num_classes}"
    if protocol.folds is not None:
        return f": folds from 2 to {num_classes // _MIN_VAL_CLASSES} fit"
    if least == most:
        return f": val_fraction {least:g} fits"
    return f": val_fraction from {least:g} to {most:g} fits"


def _unchecked_counts(num_classes: int, protocol: ProtocolSettings) -> tuple[tuple[int, ...], str]:
    """Classes that each fold validates, and the parameter that says so, in words."""
    kind, folds = protocol.kind, protocol.folds
    if kind in ("fixed", "random_splits"):
        fraction = protocol.val_fraction
        if fraction is None or not 0.0 < fraction < 1.0:
            raise TrialInputError(f"protocol.val_fraction must be in (0, 1); got {fraction}")
        return (round(fraction * num_classes),), f"val_fraction {fraction}"
    if kind in ("kfold", "repeated_kfold"):
        if folds is None or folds < 2:
            raise TrialInputError(f"protocol.folds must be at least 2; got {folds}")
        if kind == "repeated_kfold" and (protocol.repeats is None or protocol.repeats < 2):
            raise TrialInputError(
                f"protocol.repeats must be at least 2 (else it is kfold); got {protocol.repeats}"
            )
        # With more folds than classes some hold none, however many these are.
        listed = min(folds, num_classes + 1)
        counts = tuple(len(range(fold, num_classes, folds)) for fold in range(listed))
        return counts * (protocol.num_folds // folds), f"folds {folds}"
    if kind == "published":
        num_named = len(_unique(protocol.val_classes or ()))
        return (num_named,), f"a list of {num_named}"
    raise unknown_name("protocol kind", kind, get_args(ProtocolKind))


def _val_classes(
    names: Sequence[str], protocol: ProtocolSettings, fold: int, count: int, draw: str
) -> Sequence[str]:
    if protocol.kind == "published":
        return _known(protocol.val_classes or (), names)
    seed = f"split {protocol.split_seed}"
    if protocol.kind in ("fixed", "random_splits"):
        return seeded_order(names, f"{seed} draw {draw}" if draw else seed)[:count]
    folds = protocol.folds or 1
    repetition, fold_of_repetition = divmod(fold, folds)
    # The first repetition is kfold of the same seed, so that its trials have the same ids.
    order = seeded_order(names, f"{seed} repetition {repetition}" if repetition else seed)
    return order[fold_of_repetition::folds]


def _known(named: Sequence[str], train_names: Sequence[str]) -> Sequence[str]:
    unknown = sorted(set(named) - set(train_names))
    if unknown:
        raise TrialInputError(
            "published validation classes must be training classes of the data set; among its "
            f"{len(train_names)} there is no {first_of(list(map(repr, unknown)))}"
        )
    return named


def protocol_hash(dataset_train_class_names: Sequence[str], protocol: ProtocolSettings) -> str:
    """Hash of the protocol and the classes it parts; what competitors must have in common.

    The draws of ``random_splits`` are not part of it, nor is the place of a file of classes.
    """
    parameters: dict[str, object] = {
        "fixed": protocol.val_fraction,
        "random_splits": protocol.val_fraction,
        "kfold": protocol.folds,
        "repeated_kfold": [protocol.folds, protocol.repeats],
        "published": sorted(protocol.val_classes or ()),
        "test_tuned": None,
        "refit": None,
    }
    names = _unique(dataset_train_class_names)
    # The seed draws nothing where the classes are given or none is held out.
    seed = None if protocol.kind in ("published", *_WHOLE) else protocol.split_seed
    return digest([protocol.kind, parameters[protocol.kind], seed, names])


def assert_class_disjoint(split: Split, test_class_names: Collection[str]) -> None:
    """Refuse to train if any class is on two of the three sides: train, validation, test.

    Raises:
        TrialInputError: names the sides and the classes they share.
    """
    assert_disjoint({"training": split.train, "validation": split.val, "test": test_class_names})


def assert_not_tested(protocol: ProtocolSettings, test_class_names: Collection[str]) -> None:
    """Refuse a list of validation classes with test classes in it.

    Raises:
        TrialInputError: names some of them.
    """
    assert_disjoint({"validation": protocol.val_classes or (), "test": test_class_names})


def assert_disjoint(sides: Mapping[str, Collection[str]]) -> None:
    """Refuse classes that two sides have.

    Args:
        sides: class names by what the side is called.

    Raises:
        TrialInputError: names two sides and the classes they share.
    """
    for (one, ones), (other, others) in itertools.combinations(sides.items(), 2):
        shared = sorted(set(ones) & set(others))
        if shared:
            raise TrialInputError(
                f"{one} and {other} classes must be disjoint; both have {first_of(shared)}"
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
