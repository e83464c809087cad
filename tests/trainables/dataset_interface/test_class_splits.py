import pytest

from podium.trainables.dataset_interface.class_splits import (
    Split,
    assert_class_disjoint,
    fitting_val_fraction,
    make_split,
    protocol_hash,
    validation_counts,
)
from podium.trainables.errors import TrialInputError
from podium.trainables.settings.trial_settings import ProtocolSettings

NAMES = [f"class {number}" for number in range(20)]


def fixed(val_fraction=0.25, seed=0):
    return ProtocolSettings(kind="fixed", val_fraction=val_fraction, split_seed=seed)


def kfold(folds=4, seed=0):
    return ProtocolSettings(kind="kfold", val_fraction=None, folds=folds, split_seed=seed)


def test_hashes_and_splits_stay_what_they_are():
    split = make_split([f"class {number}" for number in range(6)], fixed(0.34, seed=1), 0)
    assert split == Split(
        train=("class 0", "class 1", "class 2", "class 4"),
        val=("class 3", "class 5"),
        hash="0f47859f0d2e8e0f",
    )
    assert protocol_hash(["b", "a"], kfold(2, seed=1)) == "b658a209722360aa"


@pytest.mark.parametrize("fraction", [None, 0.0, 1.0, -0.1, float("nan")])
def test_a_fraction_outside_0_to_1_is_refused(fraction):
    with pytest.raises(TrialInputError, match=r"val_fraction must be in \(0, 1\); got"):
        make_split(NAMES, fixed(fraction), 0)


@pytest.mark.parametrize(
    ("protocol", "left"),
    [
        (fixed(0.01), "val_fraction 0.01 of 20 training classes leaves 0 and 20"),
        (fixed(0.05), "val_fraction 0.05 of 20 training classes leaves 1 and 19"),
        (fixed(0.95), "val_fraction 0.95 of 20 training classes leaves 19 and 1"),
        (kfold(11), "folds 11 of 20 training classes leaves 1 and 18"),
    ],
)
def test_a_side_with_too_few_classes_is_refused(protocol, left):
    with pytest.raises(TrialInputError, match=f"at least 2 classes to validate.*{left}"):
        make_split(NAMES, protocol, 0)


@pytest.mark.parametrize("folds", [None, 0, 1])
def test_fewer_than_two_folds_are_refused(folds):
    with pytest.raises(TrialInputError, match=f"folds must be at least 2; got {folds}"):
        validation_counts(20, kfold(folds))


def test_a_fold_that_is_not_there_is_refused():
    with pytest.raises(
        TrialInputError, match=r"fold must be in 0\.\.3 for protocol 'kfold'; got 4"
    ):
        make_split(NAMES, kfold(4), 4)
    with pytest.raises(TrialInputError, match=r"fold must be in 0\.\.0 .*; got -1"):
        make_split(NAMES, fixed(), -1)


def test_an_unknown_kind_is_refused():
    with pytest.raises(TrialInputError, match=r"unknown protocol kind 'k_fold'.*'kfold'"):
        validation_counts(20, ProtocolSettings(kind="k_fold"))


def test_a_class_named_twice_is_refused():
    with pytest.raises(TrialInputError, match="unique; got 'class 3' more than once"):
        make_split([*NAMES, "class 3"], fixed(), 0)


@pytest.mark.parametrize(
    ("train", "val", "test", "message"),
    [
        ("ab", "bc", "d", "training and validation classes must be disjoint; both have b$"),
        ("ab", "c", "xa", "training and test classes must be disjoint; both have a$"),
        ("ab", "cd", "dc", "validation and test classes must be disjoint; both have c, d$"),
        ("abcdef", "x", "fedcba", r"both have a, b, c, d, e, \.\.\.$"),
    ],
)
def test_a_class_on_two_sides_is_refused(train, val, test, message):
    with pytest.raises(TrialInputError, match=message):
        assert_class_disjoint(Split(train=tuple(train), val=tuple(val), hash=""), tuple(test))


def test_more_folds_than_classes_are_refused_however_many():
    with pytest.raises(TrialInputError, match="folds 1000000000000 of 20 training classes"):
        validation_counts(20, kfold(10**12))


def test_a_fraction_that_fits_is_the_nearest_to_the_wanted_one():
    assert fitting_val_fraction(100, 0.1) == 0.1
    assert fitting_val_fraction(10, 0.1) == 0.2
    assert fitting_val_fraction(4, 0.1) == fitting_val_fraction(4, 0.9) == 0.5
    assert fitting_val_fraction(3, 0.5) is None
    for num_classes in range(4, 60):
        for wanted in (0.01, 0.1, 0.4, 0.99):
            fraction = fitting_val_fraction(num_classes, wanted)
            validation_counts(num_classes, ProtocolSettings(kind="fixed", val_fraction=fraction))


@pytest.mark.parametrize("num_classes", [4, 5, 7, 20, 150])
@pytest.mark.parametrize("kind", ["fixed", "kfold"])
def test_the_error_of_a_split_that_does_not_fit_names_values_that_do(num_classes, kind):
    wrong = {"val_fraction": 0.001} if kind == "fixed" else {"folds": 100}
    empty = {"val_fraction": None, "folds": None}
    settings = ProtocolSettings(kind=kind, **{**empty, **wrong})
    with pytest.raises(TrialInputError, match=r"(fit|fits)$") as error:
        validation_counts(num_classes, settings)
    told = str(error.value).rpartition(": ")[2]
    name, *values = [word for word in told.split() if word not in ("from", "to", "fit", "fits")]
    for value in values:
        given = float(value) if kind == "fixed" else int(value)
        counts = validation_counts(
            num_classes, ProtocolSettings(kind=kind, **{**empty, name: given})
        )
        assert min(counts) >= 2
