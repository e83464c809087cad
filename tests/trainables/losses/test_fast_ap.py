import pytest
import torch

from tests.trainables.losses.one_anchor import one_anchor
from trainables.losses.fast_ap import FastAp


@pytest.mark.parametrize("unused", [(), (0.9, -1.0)])
def test_where_distances_lie_at_nodes_of_their_own_it_is_the_average_precision(unused):
    # Squared distances 0.4, 1.2 and 0.8, 1.6 with nodes every 0.4: ranked + - + -.
    _, batch = one_anchor(positives=[0.8, 0.4], negatives=[0.6, 0.2], unused=unused)
    value = FastAp(bins=10)(batch).value
    assert value.item() == pytest.approx(1.0 - (1.0 + 2.0 / 3.0) / 2.0)


def test_ties_share_their_precision():
    _, batch = one_anchor(positives=[0.5], negatives=[0.5, 0.5])
    assert FastAp(bins=8)(batch).value.item() == pytest.approx(1.0 - 1.0 / 3.0)


def test_a_positive_between_two_nodes_is_shared_by_them():
    # At 1.5 nodes; a negative lies at node 1 and counts against both halves.
    _, batch = one_anchor(positives=[0.7], negatives=[0.8])
    missed = 0.5 * (1.0 - 0.5 / 1.5) + 0.5 * (1.0 - 1.0 / 2.0)
    assert FastAp(bins=10)(batch).value.item() == pytest.approx(missed)


def test_a_perfect_ranking_has_no_loss_and_no_gradient():
    anchor, batch = one_anchor(positives=[0.9, 0.95], negatives=[0.0, -0.5])
    value, active_fraction = FastAp()(batch)
    (gradient,) = torch.autograd.grad(value, anchor)
    assert value == active_fraction == 0.0
    assert (gradient == 0.0).all()
