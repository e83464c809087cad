import math

import torch

from tests.trainables.losses.loss_cases import BATCHES, DIM, embeddings, run
from trainables.loss_composition.batch import Batch
from trainables.losses.chopra import Chopra


def value_of(vectors, labels, **hyperparameters):
    x = torch.tensor(vectors, dtype=torch.float64)
    return Chopra(**hyperparameters)(Batch.of(x, torch.tensor(labels))).value.item()


def test_the_largest_distances_of_the_sphere_give_the_extreme_costs():
    diagonal = [1.0] * 9
    opposite = [-1.0] * 9
    largest = 2.0 * 3.0  # L1, 9 dimensions
    assert math.isclose(value_of([diagonal, opposite], [0, 0]), 2.0 * largest)
    assert math.isclose(value_of([diagonal, opposite], [0, 1]), 2.0 * largest * math.exp(-2.77))
    assert math.isclose(value_of([diagonal, opposite], [0, 0], distance="l2"), 4.0)
    assert math.isclose(
        value_of([diagonal, opposite], [0, 1], distance="l2"), 4.0 * math.exp(-2.77)
    )


def test_a_right_angle_by_hand():
    axes = [[1.0, 0.0], [0.0, 1.0]]
    largest = 2.0 * math.sqrt(2.0)
    assert math.isclose(value_of(axes, [0, 0]), 2.0 / largest * 4.0)
    assert math.isclose(value_of(axes, [0, 0], distance="l2"), 2.0)
    expected = 4.0 * math.exp(-3.0 * math.sqrt(2.0) / 2.0)
    assert math.isclose(value_of(axes, [0, 1], distance="l2", decay=3.0), expected)


def test_no_two_unit_vectors_are_further_apart_than_the_largest_distance():
    z = torch.nn.functional.normalize(embeddings(500, dtype=torch.float64))
    assert torch.cdist(z, z, p=1.0).max() <= 2.0 * math.sqrt(DIM)


def test_under_l2_a_rotation_changes_nothing_but_under_l1_it_does():
    x, labels, _ = BATCHES["clustered"]
    x = x.double()
    rotation = torch.linalg.qr(embeddings(DIM, dtype=torch.float64, seed=7)).Q
    change = {
        distance: run(Chopra(distance=distance), x @ rotation, labels)[0]
        - run(Chopra(distance=distance), x, labels)[0]
        for distance in ("l1", "l2")
    }
    assert change["l2"].abs() < 1e-12
    assert change["l1"].abs() > 1e-3
