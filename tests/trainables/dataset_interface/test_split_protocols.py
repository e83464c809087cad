"""Random splits, repeated folds and published lists of classes."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.trainables.dataset_interface.class_splits import (
    assert_not_tested,
    make_split,
    protocol_hash,
    validation_counts,
)
from podium.trainables.errors import TrialInputError
from podium.trainables.settings.trial_settings import ProtocolSettings

NAMES = [f"class {number}" for number in range(20)]
class_names = st.lists(st.text(max_size=6), min_size=8, max_size=40, unique=True)
seeds = st.integers(0, 2**31 - 1)
fractions = st.floats(0.25, 0.75)
draws = st.text(min_size=1, max_size=8)


def random_splits(val_fraction=0.25, seed=0):
    return ProtocolSettings(kind="random_splits", val_fraction=val_fraction, split_seed=seed)


def repeated(folds=4, repeats=3, seed=0):
    return ProtocolSettings(
        kind="repeated_kfold", val_fraction=None, folds=folds, repeats=repeats, split_seed=seed
    )


def kfold(folds=4, seed=0):
    return ProtocolSettings(kind="kfold", val_fraction=None, folds=folds, split_seed=seed)


def published(*names):
    return ProtocolSettings(kind="published", val_fraction=None, val_classes=names)


def test_every_draw_is_another_split_and_every_seed_other_draws():
    splits = {
        make_split(NAMES, random_splits(seed=seed), 0, f"config {number}").val
        for seed in range(5)
        for number in range(20)
    }
    assert len(splits) > 95


def test_over_many_draws_each_class_is_validated_about_equally_often():
    counts = Counter(
        name
        for number in range(2000)
        for name in make_split(NAMES, random_splits(), 0, str(number)).val
    )
    # Binomial with mean 500 and standard deviation below 20.
    assert all(420 < counts[name] < 580 for name in NAMES)


@pytest.mark.parametrize(
    ("protocol", "draw"), [(random_splits(), ""), (kfold(), "a"), (ProtocolSettings(), "a")]
)
def test_a_draw_that_is_missing_or_too_much_is_refused(protocol, draw):
    with pytest.raises(TrialInputError, match="random_splits needs a draw, other protocols none"):
        make_split(NAMES, protocol, 0, draw)


@given(class_names, st.integers(2, 4), st.integers(2, 4), seeds)
def test_repeated_folds_validate_each_class_once_in_each_repetition(names, folds, repeats, seed):
    protocol = repeated(folds, repeats, seed)
    splits = [make_split(names, protocol, fold) for fold in range(protocol.num_folds)]
    assert len(splits) == folds * repeats
    for repetition in range(repeats):
        of_it = splits[repetition * folds : (repetition + 1) * folds]
        assert sorted(name for split in of_it for name in split.val) == sorted(names)


@given(class_names, st.integers(2, 4), seeds)
def test_the_first_repetition_is_that_of_kfold(names, folds, seed):
    for fold in range(folds):
        expected = make_split(names, kfold(folds, seed), fold)
        assert make_split(names, repeated(folds, 2, seed), fold) == expected


def test_repetitions_deal_the_classes_differently():
    dealt = {
        frozenset(make_split(NAMES, repeated(4, 10), 4 * repetition + fold).val for fold in (0, 1))
        for repetition in range(10)
    }
    assert len(dealt) == 10


@pytest.mark.parametrize("repeats", [None, 0, 1])
def test_one_repetition_is_refused_as_it_is_kfold(repeats):
    with pytest.raises(TrialInputError, match=f"repeats must be at least 2 .*; got {repeats}"):
        validation_counts(20, replace(repeated(), repeats=repeats))


@given(class_names, st.data())
def test_a_published_list_is_what_is_validated(names, data):
    listed = data.draw(st.permutations(names))[2:6]
    split = make_split(names, published(*listed), 0)
    assert split.val == tuple(sorted(listed))
    more = make_split([*names, "added later"], published(*listed), 0)
    assert more.val == split.val
    assert set(more.train) == {*split.train, "added later"}


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        (["class 1", "class 99"], "among its 20 there is no 'class 99'$"),
        ([f"x{n}" for n in range(7)], r"there is no 'x0', 'x1', 'x2', 'x3', 'x4', \.\.\.$"),
        (["class 1", "class 2", "class 1"], "unique; got 'class 1' more than once"),
        ([], "a list of 0 of 20 training classes leaves 0 and 20"),
        (["class 1"], "a list of 1 of 20 training classes leaves 1 and 19"),
        (NAMES[:19], "a list of 19 of 20 training classes leaves 19 and 1"),
    ],
)
def test_a_list_that_does_not_fit_the_classes_is_refused(listed, message):
    with pytest.raises(TrialInputError, match=message):
        make_split(NAMES, published(*listed), 0)


def test_a_list_with_test_classes_is_refused():
    with pytest.raises(TrialInputError, match=r"validation and test classes .* both have b$"):
        assert_not_tested(published("a", "b"), ["b", "c"])
    assert_not_tested(published("a", "b"), ["c"])
    assert_not_tested(kfold(), ["c"])


def test_protocols_that_part_alike_and_only_they_share_a_hash():
    different = [
        ProtocolSettings(kind="fixed", val_fraction=0.25),
        ProtocolSettings(kind="fixed", val_fraction=0.3),
        random_splits(),
        random_splits(0.5),
        random_splits(seed=1),
        kfold(),
        kfold(5),
        repeated(),
        repeated(repeats=2),
        repeated(folds=3),
        repeated(seed=1),
        published("class 1", "class 2"),
        published("class 1", "class 3"),
    ]
    hashes = {protocol_hash(NAMES, protocol) for protocol in different}
    assert len({*hashes, protocol_hash(NAMES[1:], different[0])}) == len(different) + 1
    assert protocol_hash(NAMES, replace(different[0], folds=7)) in hashes, "folds are unused"
    one = published("class 1", "class 2")
    for same in (
        replace(one, classes_file="/elsewhere", split_seed=3),
        published("class 2", "class 1"),
    ):
        assert protocol_hash(NAMES, same) == protocol_hash(NAMES, one)


RANDOM = ("class 3", "class 4")
REPEATED = ("class 0", "class 5")
HASHES = ["2434c2c715116e2f", "8a953ac4dd9f76f4"]


def test_splits_stay_what_they_are():
    names = NAMES[:6]
    assert make_split(names, random_splits(0.34, 1), 0, "config a").val == RANDOM
    assert make_split(names, repeated(3, 2, 1), 4).val == REPEATED
    assert [protocol_hash(names, it) for it in (random_splits(), repeated())] == HASHES
