"""Batches around an anchor and what the network takes for near, against a slow search."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.trainables.batch_samplers.balanced import Balanced
from podium.trainables.batch_samplers.hard_neighbours import HardNeighbours

pytestmark = pytest.mark.filterwarnings("ignore:batches hold", "ignore:.*have a single image")


@st.composite
def cases(draw):
    """Labels in any order, two classes of at least two images, batch size, K, seed."""
    sizes = draw(st.lists(st.integers(1, 9), max_size=8))
    sizes += [draw(st.integers(2, 9)), draw(st.integers(2, 9))]
    labels = draw(st.permutations(np.repeat(np.arange(len(sizes)) * 3, sizes).tolist()))
    samples_per_class = draw(st.integers(2, 4))
    batch_size = draw(st.integers(2 * samples_per_class, 24))
    return np.array(labels), batch_size, samples_per_class, draw(st.integers(0, 2**32))


def embeddings_of(labels, seed, dim=6):
    """Of any length, classes not far apart."""
    generator = np.random.default_rng(seed)
    centres = generator.normal(size=(labels.max() + 1, dim))
    noise = generator.normal(size=(len(labels), dim))
    lengths = generator.uniform(0.1, 10.0, size=(len(labels), 1))
    return ((centres[labels] + noise) * lengths).astype(np.float32)


def cosine(x, y):
    x, y = x.astype(float).tolist(), y.astype(float).tolist()
    dot = sum(a * b for a, b in zip(x, y, strict=True))
    return dot / math.sqrt(sum(a * a for a in x) * sum(b * b for b in y))


def hard_groups(labels, embeddings, anchor, num_classes, count):
    """The images of other classes around an anchor, group by group, hardest first."""
    groups = []
    for label in sorted(set(labels.tolist()) - {labels[anchor]}):
        images = np.flatnonzero(labels == label).tolist()
        if len(images) == 1:
            continue
        near = [(cosine(embeddings[image], embeddings[anchor]), image) for image in images]
        near.sort(reverse=True)
        passed = near[1:] if len(near) > count else near
        groups.append(passed[:count])
    groups.sort(key=lambda group: group[0][0], reverse=True)
    return [[image for _, image in group] for group in groups[: num_classes - 1]]


@given(cases(), st.integers(0, 1000))
def test_a_batch_is_what_the_slow_rule_finds_around_its_anchor(case, epoch):
    labels, batch_size, count, seed = case
    embeddings = embeddings_of(labels, seed)
    sizes = np.bincount(labels)
    eligible = np.flatnonzero(sizes > 1)
    num_classes = min(batch_size // count, len(eligible))
    batches = list(HardNeighbours(*case).epoch(epoch, embeddings))
    assert len(batches) == len(list(Balanced(*case).epoch(epoch)))
    anchors = [int(batch[0]) for batch in batches]
    assert len(set(anchors)) == len(anchors)
    for anchor, batch in zip(anchors, batches, strict=True):
        first, *others = batch.reshape(num_classes, count).tolist()
        assert set(labels[first].tolist()) == {labels[anchor]}
        assert len(set(first)) == min(count, sizes[labels[anchor]])
        expected = hard_groups(labels, embeddings, anchor, num_classes, count)
        assert [group[: len(wanted)] for group, wanted in zip(others, expected, strict=True)] == (
            expected
        )
        for group, wanted in zip(others, expected, strict=True):
            assert set(group) == set(wanted)  # with repeats of a small class


def test_the_nearest_image_of_a_class_is_passed_over_unless_all_its_images_are_needed():
    labels = np.array([0, 0, 1, 1, 1, 2, 2])
    angles = np.deg2rad([0, 1, 10, 20, 30, 15, 40])
    embeddings = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    for epoch in range(20):
        (batch,) = HardNeighbours(labels, 6, 2, 0).epoch(epoch, embeddings)
        if batch[0] == 0:
            assert batch.tolist() == [0, 1, 5, 6, 3, 4]
            return
    raise AssertionError("image 0 was never the anchor")


def test_other_embeddings_make_other_batches_and_their_lengths_do_not_matter():
    labels = np.repeat(np.arange(12), 7)
    sampler = HardNeighbours(labels, 16, 4, 0)

    def drawn(embeddings):
        return np.concatenate(list(sampler.epoch(1, embeddings))).tolist()

    embeddings = embeddings_of(labels, seed=1)
    assert drawn(embeddings) == drawn(embeddings * np.float32(8.0))
    assert drawn(embeddings) != drawn(embeddings_of(labels, seed=2))


def test_collapsed_embeddings_take_images_in_the_order_of_the_data():
    labels = np.repeat(np.arange(4), 3)
    for embeddings in (np.ones((12, 3), np.float32), np.zeros((12, 3), np.float32)):
        for batch in HardNeighbours(labels, 6, 2, 0).epoch(1, embeddings):
            others = [label for label in range(4) if label != labels[batch[0]]][:2]
            assert batch[2:].tolist() == [3 * label + n for label in others for n in (1, 2)]
