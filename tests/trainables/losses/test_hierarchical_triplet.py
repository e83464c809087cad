"""The margins of the hierarchical triplet loss: where classes merge, and what becomes of them."""

import pytest
import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.losses.hierarchical_triplet import HierarchicalTriplet
from tests.trainables.losses.loss_cases import on_circle


def points_on_the_circle(degrees):
    """Classes of two equal images each, at these angles."""
    labels = torch.arange(len(degrees)).repeat_interleave(2)
    return Batch.of(on_circle(*degrees)[labels], labels)


def square(degrees):
    """Squared distance of two points of the unit circle."""
    return 2.0 - 2.0 * torch.tensor(degrees).deg2rad().cos().item()


def cost(degrees, level, *, levels, margin):
    """Of a negative at an angle that merges at a level, where classes are points."""
    return max(0.0, margin + 4.0 * level / levels - square(degrees)) / 2.0


def test_classes_merge_at_the_first_level_above_their_distance():
    # 60 degrees are a squared distance of 1: below 2, the first of four levels above.
    output = HierarchicalTriplet(margin=0.1, levels=4)(points_on_the_circle([0.0, 59.0]))
    assert output.value.item() == pytest.approx(cost(59.0, 1, levels=4, margin=0.1))
    output = HierarchicalTriplet(margin=0.1, levels=4)(points_on_the_circle([0.0, 61.0]))
    assert output.value.item() == pytest.approx(cost(61.0, 2, levels=4, margin=0.1))


def test_a_class_between_two_others_merges_them_earlier():
    levels, margin = 8, 2.0
    chain = HierarchicalTriplet(margin=margin, levels=levels)(
        points_on_the_circle([0.0, 40.0, 80.0])
    )
    # Neighbours are at 0.47, below the first threshold, 0.5; so the ends merge there as well.
    costs = [cost(degrees, 1, levels=levels, margin=margin) for degrees in (40.0, 40.0, 80.0)]
    assert chain.value.item() == pytest.approx(sum(costs) / 3)
    ends = HierarchicalTriplet(margin=margin, levels=levels)(points_on_the_circle([0.0, 80.0]))
    # Alone they are at 1.65, below the fourth threshold, 2.
    assert ends.value.item() == pytest.approx(cost(80.0, 4, levels=levels, margin=margin))
