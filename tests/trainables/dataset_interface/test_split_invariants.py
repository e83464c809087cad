"""What holds for the splits of every kind of protocol."""

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.trainables.dataset_interface.class_splits import (
    make_split,
    protocol_hash,
    validation_counts,
)
from podium.trainables.errors import TrialInputError
from podium.trainables.settings.trial_settings import ProtocolSettings

NAMES = [f"class {number}" for number in range(20)]
WHOLE = ("test_tuned", "refit")

class_names = st.lists(st.text(max_size=4), min_size=8, max_size=24, unique=True)
seeds = st.integers(0, 3)  # few, so that two protocols often are the same
fractions = st.floats(0.25, 0.75)
folds = st.integers(2, 4)


def protocol(kind, seed=0, **parameters):
    return ProtocolSettings(kind=kind, split_seed=seed, **{"val_fraction": None, **parameters})


@st.composite
def places(draw, names):
    """A protocol of any kind, one of its folds, and a draw where it needs one."""
    kind = draw(
        st.sampled_from(("fixed", "random_splits", "kfold", "repeated_kfold", "published", *WHOLE))
    )
    parameters = {
        "fixed": {"val_fraction": fractions},
        "random_splits": {"val_fraction": fractions},
        "kfold": {"folds": folds},
        "repeated_kfold": {"folds": folds, "repeats": st.integers(2, 3)},
        "published": {"val_classes": st.permutations(names).map(lambda them: tuple(them[:3]))},
    }.get(kind, {})
    settings = protocol(kind, draw(seeds), **draw(st.fixed_dictionaries(parameters)))
    fold = draw(st.integers(0, settings.num_folds - 1))
    return settings, fold, draw(st.sampled_from("ab")) if kind == "random_splits" else ""


@st.composite
def names_and_places(draw, count):
    names = draw(class_names)
    return names, *(draw(places(names)) for _ in range(count))


@given(names_and_places(1), st.randoms())
def test_two_sides_are_all_training_classes_once_whatever_their_order(given_places, mixer):
    names, place = given_places
    split = make_split(names, *place)
    assert Counter([*split.train, *split.val]) == Counter(names)
    assert list(split.train) == sorted(split.train)
    assert list(split.val) == sorted(split.val)
    shuffled = list(names)
    mixer.shuffle(shuffled)
    assert make_split(shuffled, *place) == split
    assert protocol_hash(shuffled, place[0]) == protocol_hash(names, place[0])


@given(names_and_places(1))
def test_counts_without_names_are_those_with_names(given_places):
    names, (settings, fold, draw) = given_places
    counts = validation_counts(len(names), settings)
    assert len(counts) == settings.num_folds
    if settings.val_fraction is not None:
        assert counts == (round(settings.val_fraction * len(names)),)
    assert len(make_split(names, settings, fold, draw).val) == counts[fold]


@given(names_and_places(2))
def test_hashes_are_equal_exactly_for_equal_sides_and_the_same_use_of_them(given_places):
    names, one, other = given_places
    splits = [make_split(names, *place) for place in (one, other)]
    used = [
        (split.train, split.val, settings.kind if settings.kind in WHOLE else "")
        for split, (settings, _, _) in zip(splits, (one, other), strict=True)
    ]
    assert (splits[0].hash == splits[1].hash) == (used[0] == used[1])


@given(class_names)
def test_splits_that_differ_on_one_side_alone_have_other_hashes(names):
    listed = protocol("published", val_classes=tuple(names[:4]))
    one_less = protocol("published", val_classes=tuple(names[:3]))
    splits = [
        make_split(names, listed, 0),
        make_split(names[:3] + names[4:], one_less, 0),
        make_split(names[:-1], listed, 0),
    ]
    assert splits[0].train == splits[1].train
    assert splits[0].val == splits[2].val
    assert len({split.hash for split in splits}) == 3


def test_one_class_is_too_few_to_train_on():
    for kind in WHOLE:
        assert validation_counts(2, protocol(kind)) == (0,)
        with pytest.raises(TrialInputError, match="needs at least 2 classes; got 1"):
            make_split(["a"], protocol(kind), 0)


def test_a_name_changes_no_hash():
    for kind, parameters in (("fixed", {"val_fraction": 0.25}), ("refit", {})):
        plain, named = (protocol(kind, name=name, **parameters) for name in ("", "mine"))
        assert make_split(NAMES, named, 0) == make_split(NAMES, plain, 0)
        assert protocol_hash(NAMES, named) == protocol_hash(NAMES, plain)


def test_kinds_of_whole_protocols_have_hashes_of_their_own():
    hashes = {protocol_hash(NAMES, protocol(kind)) for kind in WHOLE}
    assert len({*hashes, protocol_hash(NAMES, ProtocolSettings())}) == 3
    assert hashes == {protocol_hash(NAMES, protocol(kind, seed=3)) for kind in WHOLE}
    of_splits = [make_split(["b", "a"], protocol(kind), 0).hash for kind in WHOLE]
    assert of_splits == ["d52bed6ac3ac9d63", "e5aca6b095fa33a8"], "stored trials are known by them"


# Known by hand: 98 classes of Cars196, 100 of CUB200, 11,318 of SOP.
SIZES = {
    0.3: {98: 29, 100: 30, 11_318: 3395},
    0.2: {98: 20, 100: 20, 11_318: 2264},
    0.1: {98: 10, 100: 10, 11_318: 1132},
    0.05: {98: 5, 100: 5, 11_318: 566},
}


@pytest.mark.parametrize("kind", ["fixed", "random_splits"])
@pytest.mark.parametrize("fraction", SIZES)
def test_the_ratios_of_the_literature_validate_as_many_classes_as_they_say(kind, fraction):
    for num_classes, expected in SIZES[fraction].items():
        settings = protocol(kind, val_fraction=fraction)
        assert validation_counts(num_classes, settings) == (expected,)
    names = [str(number) for number in range(98)]
    split = make_split(names, settings, 0, "a" if kind == "random_splits" else "")
    assert (len(split.train), len(split.val)) == (98 - SIZES[fraction][98], SIZES[fraction][98])


@given(class_names, st.lists(fractions, min_size=2, max_size=4), seeds)
def test_a_smaller_validation_part_lies_within_the_larger_one(names, of_val, seed):
    """Split ratios compare the size of the parts, not other draws of them."""
    sides = [
        set(make_split(names, protocol("fixed", seed, val_fraction=fraction), 0).val)
        for fraction in sorted(of_val)
    ]
    assert all(small <= large for small, large in itertools.pairwise(sides))


@given(class_names, fractions, seeds, st.sampled_from([("fixed", ""), ("random_splits", "a")]))
def test_a_class_that_is_added_moves_at_most_one_other(names, fraction, seed, drawn):
    kind, draw = drawn
    settings = protocol(kind, seed, val_fraction=fraction)
    before = set(make_split(names[1:], settings, 0, draw).val)
    after = set(make_split(names, settings, 0, draw).val) - {names[0]}
    assert before <= after or after <= before
    assert len(before ^ after) <= 1


@given(class_names, st.integers(2, 3), seeds)
def test_a_class_that_is_added_moves_others_by_one_fold_at_most(names, count, seed):
    settings = protocol("kfold", seed, folds=count)

    def fold_of(them):
        sides = [make_split(them, settings, fold).val for fold in range(count)]
        return {name: fold for fold, side in enumerate(sides) for name in side}

    before, after = fold_of(names[1:]), fold_of(names)
    assert all(after[name] in (fold, (fold + 1) % count) for name, fold in before.items())
