from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.trainables.batch_samplers.balanced import Balanced
from podium.trainables.batch_samplers.drawn_label_neighbours import DrawnLabelNeighbours
from podium.trainables.batch_samplers.hard_neighbours import HardNeighbours
from podium.trainables.batch_samplers.label_neighbours import LabelNeighbours
from podium.trainables.batch_samplers.random import Random
from podium.trainables.dataset_interface.batch_sampler import Deck
from podium.trainables.dataset_interface.label_distances import VectorDistances
from podium.trainables.errors import TrialInputError
from podium.trainables.registry import load, names

pytestmark = pytest.mark.filterwarnings("ignore:batches hold", "ignore:.*have a single image")


@st.composite
def balanced_cases(draw):
    """Labels in any order (two classes at least have two images), batch size, K, seed."""
    sizes = draw(st.lists(st.integers(1, 9), min_size=0, max_size=12))
    sizes += [draw(st.integers(2, 9)), draw(st.integers(2, 9))]
    ids = draw(st.permutations(range(-3, len(sizes) - 3)))
    labels = draw(st.permutations(np.repeat(ids, sizes).tolist()))
    samples_per_class = draw(st.integers(2, 5))
    batch_size = draw(st.integers(2 * samples_per_class, 40))
    return np.array(labels), batch_size, samples_per_class, draw(st.integers(0, 2**63 - 1))


def spread(counts):
    return max(counts) - min(counts)


def made(name, labels, **arguments):
    """A sampler of that name, with label distances if it needs them."""
    sampler = load("batch_samplers", name)
    needed = {"label_distances": VectorDistances(np.arange(len(labels)) ** 2)}
    given_to_it = {need: needed[need] for need in sampler.needs}
    return sampler(labels=labels, **arguments, **given_to_it)


def epoch_of(sampler, number, labels):
    """The batches of an epoch, by embeddings that are the same for all epochs."""
    shape = (len(labels), 8)
    embeddings_ND = np.random.default_rng(7).normal(size=shape).astype(np.float32)
    return list(sampler.epoch(number, embeddings_ND if sampler.needs_embeddings else None))


@given(balanced_cases(), st.integers(0, 1000))
def test_a_balanced_batch_is_p_classes_with_k_images_each(case, epoch):
    labels, batch_size, samples_per_class, _ = case
    sizes = Counter(labels.tolist())
    eligible = [label for label, size in sizes.items() if size > 1]
    num_classes = min(batch_size // samples_per_class, len(eligible))
    for batch in Balanced(*case).epoch(epoch):
        assert batch.shape == (num_classes * samples_per_class,)
        grouped = labels[batch].reshape(num_classes, samples_per_class)
        assert (grouped == grouped[:, :1]).all()
        assert len(set(grouped[:, 0].tolist())) == num_classes
        for images, label in zip(batch.reshape(grouped.shape), grouped[:, 0], strict=True):
            assert sizes[label] > 1
            assert len(set(images.tolist())) == min(samples_per_class, sizes[label])


@given(balanced_cases())
def test_balanced_epochs_draw_classes_and_images_evenly(case):
    labels, batch_size, samples_per_class, _ = case
    sizes = Counter(labels.tolist())
    eligible = [label for label, size in sizes.items() if size > 1]
    drawn = np.concatenate(list(Balanced(*case).epoch(1)))
    classes = Counter(labels[drawn[::samples_per_class]].tolist())
    assert spread([classes[label] for label in eligible]) <= 1
    images = Counter(drawn.tolist())
    for label in eligible:
        if sizes[label] >= samples_per_class:
            assert spread([images[index] for index in np.flatnonzero(labels == label)]) <= 1
    batch = min(batch_size // samples_per_class, len(eligible)) * samples_per_class
    remaining = sum(sizes[label] for label in eligible)
    assert len(drawn) // batch == max(1, remaining // batch)


@pytest.mark.parametrize("sampler", [Balanced, HardNeighbours])
def test_smaller_batches_and_classes_left_out_are_warned_of(sampler):
    labels = np.repeat(np.arange(5), [4, 4, 4, 1, 1])
    with pytest.warns(UserWarning, match="batches hold 6 images instead of 8: there are only 3"):
        sampler(labels, 8, 2, 0)
    with pytest.warns(UserWarning, match="2 classes have a single image and are left out"):
        sampler(labels, 6, 2, 0)
    with pytest.warns(
        UserWarning, match=r"batches hold 4 images .* 5, which is not a multiple of"
    ):
        sampler(labels[:12], 5, 2, 0)


@given(st.integers(2, 60), st.integers(2, 80), st.integers(0, 2**63 - 1))
def test_a_random_epoch_shows_each_image_at_most_once_in_full_batches(num, batch_size, seed):
    batches = list(Random(np.zeros(num, np.int64), batch_size, 4, seed).epoch(1))
    drawn = np.concatenate(batches)
    assert len(set(drawn.tolist())) == len(drawn)
    assert set(drawn.tolist()) <= set(range(num))
    assert {len(batch) for batch in batches} == {min(batch_size, num)}
    assert num - len(drawn) < batch_size


@pytest.mark.parametrize("name", names("batch_samplers"))
def test_an_epoch_follows_from_seed_and_number_alone(name):
    labels = np.repeat(np.arange(12), 7)

    def drawn(seed, epoch):
        return [batch.tolist() for batch in epoch_of(sampler(seed), epoch, labels)]

    def sampler(seed):
        return made(name, labels, batch_size=16, samples_per_class=4, seed=seed)

    resumed = sampler(5)
    epoch_of(resumed, 1, labels)
    assert [batch.tolist() for batch in epoch_of(resumed, 2, labels)] == drawn(5, 2)
    assert drawn(5, 1) != drawn(5, 2) != drawn(6, 2)


@given(st.integers(1, 20), st.data())
def test_no_card_comes_again_before_all_others_have_come(size, data):
    deck = Deck(range(size), np.random.default_rng(0))
    dealt = []
    for _ in range(6):
        hand = deck.draw(data.draw(st.integers(1, size)))
        assert len(set(hand)) == len(hand)
        dealt += hand
    for start in range(0, len(dealt) - size + 1, size):
        assert sorted(dealt[start : start + size]) == list(range(size))


def test_a_small_class_fills_up_with_repeats_and_a_single_image_is_left_out():
    labels = np.array([0, 1, 1, 2, 2, 2, 2])
    drawn = [list(Balanced(labels, 8, 4, seed).epoch(1)) for seed in range(5)]
    for (batch,) in drawn:
        assert Counter(labels[batch].tolist()) == {1: 4, 2: 4}
        assert set(batch.tolist()) == {1, 2, 3, 4, 5, 6}


@pytest.mark.parametrize(
    ("labels", "batch_size", "samples_per_class", "message"),
    [
        ([0, 0, 1, 1], 8, 1, "samples_per_class must be at least 2, .*; got 1"),
        ([0, 0, 1, 1], 7, 4, "at least twice samples_per_class; got 7 and 4"),
        ([0, 0, 0, 1], 8, 2, "two classes with at least 2 images; got 1"),
        ([0, 1, 2, 3], 8, 2, "two classes with at least 2 images; got 0"),
        ([0, 0, 1, 1], 1, 2, "batch_size must be at least 2; got 1"),
        ([0], 8, 2, "at least 2 images; got 1"),
    ],
)
def test_what_cannot_be_balanced_is_refused(labels, batch_size, samples_per_class, message):
    for sampler in (Balanced, HardNeighbours):
        with pytest.raises(TrialInputError, match=message):
            sampler(np.array(labels), batch_size, samples_per_class, 0)


@given(st.integers(7, 60), st.integers(7, 80), st.integers(0, 2**32))
def test_a_batch_around_an_anchor_begins_with_it_and_its_label_neighbours(num, size, seed):
    places = np.random.default_rng(seed).random((num, 2))
    distances = VectorDistances(places)
    sampler = LabelNeighbours(np.zeros(num, np.int64), size, 4, seed, label_distances=distances)
    batches = list(sampler.epoch(1))
    assert len(batches) == num // min(size, num)
    assert len({batch[0] for batch in batches}) == len(batches)
    for batch in batches:
        assert len(batch) == len(set(batch.tolist())) == min(size, num)
        apart = np.linalg.norm(places - places[batch[0]], axis=1)
        assert batch[:6].tolist() == apart.argsort()[:6].tolist()


def test_of_images_tied_for_fifth_nearest_the_first_of_the_data_are_chosen():
    places = np.arange(600) % 3
    distances = VectorDistances(places)
    sampler = LabelNeighbours(np.zeros(600, np.int64), 7, 4, 0, label_distances=distances)
    for anchor, *neighbours in (batch[:6].tolist() for batch in sampler.epoch(1)):
        alike = [other for other in range(anchor % 3, 600, 3) if other != anchor]
        assert neighbours == alike[:5]


@pytest.mark.parametrize(
    ("sampler", "num", "batch_size", "message"),
    [
        (LabelNeighbours, 20, 6, "need a batch_size of at least 7; got 6"),
        (LabelNeighbours, 6, 20, "need a number of images of at least 7; got 6"),
        (DrawnLabelNeighbours, 40, 6, "a batch_size of at least 7; got 6"),
        (DrawnLabelNeighbours, 31, 40, "images of at least 32; got 31"),
    ],
)
def test_too_few_images_for_an_anchor_with_neighbours_are_refused(
    sampler, num, batch_size, message
):
    distances = VectorDistances(np.arange(num))
    with pytest.raises(TrialInputError, match=message):
        sampler(np.zeros(num, np.int64), batch_size, 4, 0, label_distances=distances)


@given(st.integers(32, 90), st.integers(7, 120), st.integers(0, 2**32))
def test_five_of_thirty_neighbours_come_with_others_that_are_none_of_them(num, size, seed):
    places = np.random.default_rng(seed).random((num, 2))
    distances = VectorDistances(places)
    labels = np.zeros(num, np.int64)
    sampler = DrawnLabelNeighbours(labels, size, 4, seed, label_distances=distances)
    batches = list(sampler.epoch(1))
    assert len({batch[0] for batch in batches}) == len(batches)
    for batch in batches:
        assert len(batch) == len(set(batch.tolist())) == 6 + min(size - 6, num - 31)
        apart = np.linalg.norm(places - places[batch[0]], axis=1)
        nearest = set(apart.argsort()[1:31].tolist())
        assert set(batch[1:6].tolist()) <= nearest
        assert not nearest & set(batch[6:].tolist())


def test_all_thirty_neighbours_are_drawn_in_time():
    distances = VectorDistances(np.arange(40) ** 2)
    labels = np.zeros(40, np.int64)
    sampler = DrawnLabelNeighbours(labels, 15, 4, 0, label_distances=distances)
    batches = [batch for epoch in range(1500) for batch in sampler.epoch(epoch)]
    drawn = {int(image) for batch in batches if batch[0] == 0 for image in batch[1:6]}
    assert drawn == set(range(1, 31))
