import math

import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.losses.statistical import Statistical
from tests.trainables.losses.loss_cases import BATCHES, DIM, embeddings, full_batch


def value_of(views, labels, **hyperparameters):
    batch = Batch.of(views[:, 0], torch.as_tensor(labels), views_BVD=views)
    return Statistical(**hyperparameters)(batch).value


def clustered_views():
    x, labels, _ = BATCHES["clustered"]
    return full_batch(x.double(), labels).views_BVD, labels


def test_two_images_of_equal_means_and_different_spread_by_hand():
    # Views to the left and right of one axis: along the second axis, and along the third.
    c, s = math.cos(0.5), math.sin(0.5)
    views = torch.tensor([[[c, s, 0], [c, -s, 0]], [[c, 0, s], [c, 0, -s]]], dtype=torch.float64)
    of_covariances = 2.0 * (2.0 * s**2) ** 2
    assert math.isclose(value_of(views, [0, 0]).item(), of_covariances)
    expected = 1.0 + math.exp(-of_covariances / 0.3)
    assert math.isclose(value_of(views, [0, 1], covariance_scale=0.3).item(), expected)


def test_neither_a_rotation_of_the_views_nor_their_lengths_matter():
    views, labels = clustered_views()
    value = value_of(views, labels)
    rotation = torch.linalg.qr(embeddings(DIM, dtype=torch.float64, seed=7)).Q
    torch.testing.assert_close(value_of(views @ rotation, labels), value)
    lengths = torch.linspace(0.1, 10.0, views[..., 0].numel(), dtype=torch.float64)
    stretched = views * lengths.view(*views.shape[:2], 1)
    torch.testing.assert_close(value_of(stretched, labels), value)
