"""The losses on continuous labels: closed forms, and what depends on the anchor's place."""

import pytest
import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.losses.dense_triplet import DenseTriplet
from podium.trainables.losses.log_ratio import LogRatio
from podium.trainables.losses.neighbour_triplet import NeighbourTriplet
from podium.trainables.losses.threshold_triplet import ThresholdTriplet


@pytest.mark.parametrize(
    "loss",
    [LogRatio(), DenseTriplet(), NeighbourTriplet(neighbours=2), ThresholdTriplet(threshold=0.3)],
)
def test_the_first_row_is_the_anchor_and_the_order_of_the_others_does_not_matter(loss):
    x = torch.randn(6, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    y = torch.linspace(0.0, 1.0, 6, dtype=torch.float64) ** 2
    distances_BB = (y[:, None] - y).abs()

    def value(order):
        order = torch.tensor(order)
        batch = Batch.of(x[order], order, label_distances_BB=distances_BB[order][:, order])
        return loss(batch).value.item()

    assert value([0, 3, 1, 5, 2, 4]) == pytest.approx(value([0, 1, 2, 3, 4, 5]), rel=1e-12)
    assert value([3, 1, 2, 0, 4, 5]) != pytest.approx(value([0, 1, 2, 3, 4, 5]), rel=1e-3)


def test_a_dense_triplet_by_hand_counts_satisfied_triplets_and_no_ties():
    # Squared distances of unit vectors from the anchor: 2, 4 and 0.
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [2.0, 0.0]])
    label_distances = torch.zeros(4, 4)
    label_distances[0] = torch.tensor([0.0, 1.0, 1.0, 3.0])
    output = DenseTriplet(margin=1.0)(
        Batch.of(x, torch.arange(4), label_distances_BB=label_distances)
    )
    # Rows 1 and 2 tie; both are nearer by label than row 3, which coincides with the anchor.
    assert output.value.item() == pytest.approx(((2 - 0 + 1) + (4 - 0 + 1)) / 2)
    assert output.active_fraction == 1.0


# Squared distances of unit vectors from the anchor: 2, 4, 2 and 0.
CORNERS = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -3.0], [2.0, 0.0]])


def at_label_distances(*from_anchor):
    label_distances = torch.zeros(5, 5)
    label_distances[0] = torch.tensor([0.0, *from_anchor])
    return Batch.of(CORNERS, torch.arange(5), label_distances_BB=label_distances)


def test_the_nearest_by_label_are_positives_by_hand():
    # Rows 1 and 2 are the positives; how near they are is not looked at.
    output = NeighbourTriplet(margin=1.0, neighbours=2)(at_label_distances(0.1, 5.0, 7.0, 6.0))
    hinges = [2 - 2 + 1, 2 - 0 + 1, 4 - 2 + 1, 4 - 0 + 1]
    assert output.value.item() == pytest.approx(sum(hinges) / 4)
    assert output.active_fraction == 1.0


def test_labels_within_the_threshold_are_positives_by_hand():
    batch = at_label_distances(0.5, 5.0, 0.6, 0.7)
    output = ThresholdTriplet(margin=1.0, threshold=0.5)(batch)
    assert output.value.item() == pytest.approx((0 + (2 - 2 + 1) + (2 - 0 + 1)) / 3)
    assert output.active_fraction.item() == pytest.approx(2 / 3)
    assert ThresholdTriplet(threshold=0.4)(batch).value == 0.0, "without a positive"
