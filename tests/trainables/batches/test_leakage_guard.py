"""Attacks on the sides of a fold: names that fit, with labels or images that do not."""

import copy
import itertools
import re
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from podium.trainables.batches.labelled_images import images_of_classes
from podium.trainables.batches.leakage_guard import LeakageGuard
from podium.trainables.dataset_interface.class_splits import make_split
from podium.trainables.errors import TrialInputError
from podium.trainables.settings.trial_settings import ProtocolSettings
from podium.trainables.trial.fold_run import FoldRun
from podium.trainables.trial.run_trial import run_trial
from podium.trainables.trial.setup import set_up
from tests.trainables.batches.test_labelled_images import Squares
from tests.trainables.tiny_trials import ON_THE_CPU, tiny_trial

CPU = torch.device("cpu")
FIXED = ProtocolSettings(val_fraction=0.3)
KFOLD = ProtocolSettings(kind="kfold", val_fraction=None, folds=3)
TEST_TUNED = ProtocolSettings(kind="test_tuned", val_fraction=None)
REFIT = ProtocolSettings(kind="refit", val_fraction=None)
PROTOCOLS = [FIXED, KFOLD, TEST_TUNED, REFIT]


def set_up_to_tamper(cache_folder, protocol):
    """A trial with a data set of its own: otherwise all trials of the process share one."""
    setup = set_up(tiny_trial(cache_folder, protocol=protocol))
    dataset = copy.copy(setup.dataset)
    dataset.labels = dataset.labels.copy()
    return replace(setup, dataset=dataset)


def trained_name(setup):
    dataset, protocol = setup.dataset, setup.settings.protocol
    return make_split(dataset.train_class_names, protocol, 0).train[0]


def image_of(dataset, name):
    return dataset.labels.tolist().index(dataset.class_names.index(name))


def images(side):
    """With these pairs of class id and place."""
    labels, places = zip(*side, strict=True)
    some = images_of_classes(Squares(), [0, 1, 2], ON_THE_CPU)
    return replace(some, labels_N=torch.tensor(labels), indices_N=torch.tensor(places))


def refusal(guard, sides):
    """What the guard says to (class id, place) pairs by role; None if it lets them pass."""
    try:
        for role, side in sides.items():
            guard.admit(role, images(side))
    except TrialInputError as error:
        return str(error)
    return None


def pairs(class_ids):
    pair = st.tuples(st.sampled_from(class_ids), st.integers(0, 9))
    return st.lists(pair, min_size=1, max_size=3, unique_by=lambda it: it[1])


# Class 2 is the test class of the squares. Sides of any classes, and of those they should have.
some_sides = st.fixed_dictionaries(
    {
        "training": st.one_of(pairs([0, 1, 2]), pairs([0])),
        "validation": st.one_of(pairs([0, 1, 2]), pairs([1]), pairs([2])),
        "test": st.one_of(pairs([0, 1, 2]), pairs([2])),
    }
)


@given(some_sides)
def test_sides_pass_exactly_if_no_class_and_no_image_has_two_roles(sides):
    classes = {role: {label for label, _ in side} for role, side in sides.items()}
    places = [place for side in sides.values() for _, place in side]
    is_parted = (
        len(places) == len(set(places))
        and not classes["training"] & classes["validation"]
        and 2 not in classes["training"] | classes["validation"]
        and classes["test"] == {2}
    )
    guard = LeakageGuard(Squares(), tests_in_validation=False)
    assert (refusal(guard, sides) is None) == is_parted


@given(some_sides, st.booleans())
def test_what_is_declared_to_be_one_passes_exactly_if_it_is_one(sides, are_equal):
    if are_equal:
        sides["validation"] = sides["test"]
    trained = {label for label, _ in sides["training"]}, {place for _, place in sides["training"]}
    is_declared = (
        sorted(sides["validation"]) == sorted(sides["test"])
        and {label for label, _ in sides["test"]} == {2}
        and 2 not in trained[0]
        and not trained[1] & {place for _, place in sides["test"]}
    )
    guard = LeakageGuard(Squares(), tests_in_validation=True)
    assert (refusal(guard, sides) is None) == is_declared


def test_a_refusal_names_roles_and_classes():
    def said(tests_in_validation=False, **sides):
        return refusal(LeakageGuard(Squares(), tests_in_validation=tests_in_validation), sides)

    assert said(training=[(0, 1), (1, 2)], validation=[(1, 3)]) == (
        "training and validation classes must be disjoint; both have b"
    )
    assert said(validation=[(2, 1)]) == (
        "validation and listed test classes must be disjoint; both have c"
    )
    assert said(training=[(0, 1), (1, 2)], test=[(2, 2), (2, 3)]) == (
        "training and test images must be different; both have 1 of c"
    )
    assert said(test=[(2, 2), (1, 3)]) == (
        "test classes must be the listed test classes; only one has b"
    )
    assert said(True, validation=[(2, 2)], test=[(2, 2), (2, 3)]) == (
        "validation and test images must be the same under test_tuned; they differ in c"
    )


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda it: it.kind)
def test_an_image_that_becomes_a_test_image_after_it_was_trained_on_is_noticed(
    cache_folder, protocol
):
    setup = set_up_to_tamper(cache_folder, protocol)
    run = FoldRun(setup, 0, CPU)
    run.run_epoch(1)
    dataset = setup.dataset
    trained, tested = trained_name(setup), dataset.test_classes[0]
    dataset.labels[image_of(dataset, trained)] = tested
    name = re.escape(dataset.class_names[tested])
    with pytest.raises(TrialInputError, match=f"test images must .* {name}$"):
        run.test()


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda it: it.kind)
def test_a_training_class_that_is_listed_for_the_test_after_training_is_noticed(
    cache_folder, protocol
):
    setup = set_up_to_tamper(cache_folder, protocol)
    run = FoldRun(setup, 0, CPU)
    run.run_epoch(1)
    dataset, trained = setup.dataset, trained_name(setup)
    dataset.test_classes = (*dataset.test_classes, dataset.class_names.index(trained))
    with pytest.raises(TrialInputError, match=f"test .* {re.escape(trained)}$"):
        run.test()


# Each role is gathered in two looks at the labels: which images, and what their labels are. These
# are the looks at which a training image that passes for a test image is taken for one.
HARMFUL = [(FIXED, {3, 4}), (KFOLD, {3, 4}), (TEST_TUNED, {0, 3, 4}), (REFIT, {1, 2})]


@pytest.mark.parametrize(("protocol", "harmful"), HARMFUL, ids=lambda it: getattr(it, "kind", ""))
@pytest.mark.parametrize("dishonest", range(6))
def test_one_dishonest_look_at_the_labels_is_refused_where_it_does_harm(
    cache_folder, protocol, harmful, dishonest
):
    """The names fit throughout; only an array that is handed on does not."""
    setup = set_up_to_tamper(cache_folder, protocol)
    dataset = setup.dataset
    honest, tampered = dataset.labels, dataset.labels.copy()
    tampered[image_of(dataset, trained_name(setup))] = dataset.test_classes[0]
    looks = itertools.count()

    class Changing(type(dataset)):
        @property
        def labels(self):
            return tampered if next(looks) == dishonest else honest

    dataset.__class__ = Changing

    def run_it():
        run = FoldRun(setup, 0, CPU)
        run.run_epoch(1)
        run.test()

    if dishonest not in harmful:
        return run_it()
    with pytest.raises(TrialInputError, match=r" must .* LATIN"):
        run_it()


def test_a_published_list_with_a_test_class_is_refused_before_anything_is_read(cache_folder):
    setup = set_up_to_tamper(cache_folder, FIXED)
    names = setup.dataset.train_class_names[:3]
    tested = setup.dataset.class_names[setup.dataset.test_classes[0]]
    protocol = ProtocolSettings(
        kind="published", val_fraction=None, val_classes=tuple(sorted([*names, tested]))
    )
    with pytest.raises(TrialInputError, match=f"validation and test .* {re.escape(tested)}$"):
        next(run_trial(tiny_trial(cache_folder, protocol=protocol)))
