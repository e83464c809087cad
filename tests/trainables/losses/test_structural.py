import math

import torch

from tests.trainables.losses.loss_cases import BATCHES, on_circle
from trainables.loss_composition.batch import Batch
from trainables.losses.structural import Structural


def test_one_positive_pair_by_hand():
    # Squared distances: 1 within the class (60 degrees), 2 and 3 to the negative (90 and 120).
    batch = Batch.of(on_circle(0.0, 60.0, -90.0), torch.tensor([0, 0, 1]))
    batch = batch._replace(normalised_BD=on_circle(0.0, 60.0, -90.0))
    gaps = [1.0 - 2.0, 1.0 - (2.0 - 2.0 * math.cos(math.radians(150.0)))]
    ranking = sum(math.log1p(math.exp((gap + 0.3) / 0.7)) for gap in gaps) / 2.0
    free = {"positive_variance": 4.0, "negative_variance": 4.0}
    value = Structural(margin=0.3, temperature=0.7, **free)(batch).value
    assert math.isclose(value, ranking)
    # Deviation of the two negative distances from their mean; positives have none.
    deviation = (gaps[0] - gaps[1]) / 2.0
    bounded = Structural(
        margin=0.3,
        temperature=0.7,
        variance_weight=3.0,
        positive_variance=0.0,
        negative_variance=0.1,
    )
    expected = ranking + 1.5 * (deviation**2 - 0.1)
    assert math.isclose(bounded(batch).value, expected)


def test_the_farther_positive_of_a_class_weighs_more():
    # Class 0 has positives at 20, 40 and 60 degrees; at this temperature each pair's term is
    # nearly its own squared distance minus that of the anchor's nearest negative, plus margin.
    degrees = [0.0, 20.0, 60.0, 180.0]
    labels = torch.tensor([0, 0, 0, 1])
    free = {"positive_variance": 4.0, "negative_variance": 4.0}
    batch = Batch.of(on_circle(*degrees), labels)
    value = Structural(margin=4.0, temperature=1e-3, **free)(batch).value

    def squared(i, j):
        return 2.0 - 2.0 * math.cos(math.radians(degrees[i] - degrees[j]))

    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    weights = [math.exp(squared(*pair)) for pair in pairs]
    terms = [(squared(i, j) - squared(i, 3) + 4.0) / 1e-3 for i, j in pairs]
    expected = sum(w * t for w, t in zip(weights, terms, strict=True)) / sum(weights)
    assert math.isclose(value, expected, rel_tol=1e-9)


def test_the_share_of_active_pairs_is_that_of_anchors_with_negatives():
    for name, expected in (("balanced", 1.0), ("one class", 0.0), ("no positives", 0.0)):
        x, labels, _ = BATCHES[name]
        assert Structural()(Batch.of(x, labels)).active_fraction == expected


def test_wide_bounds_leave_only_the_ranking_whatever_their_weight():
    x, labels, _ = BATCHES["clustered"]
    batch = Batch.of(x.double(), labels)
    free = {"positive_variance": 4.0, "negative_variance": 4.0}
    unbounded = Structural(variance_weight=0.0)(batch).value
    assert Structural(variance_weight=10.0, **free)(batch).value == unbounded
    assert Structural(variance_weight=10.0)(batch).value > unbounded
