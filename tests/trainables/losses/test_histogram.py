import pytest
import torch

from tests.trainables.losses.one_anchor import one_anchor
from trainables.losses.histogram import Histogram


@pytest.mark.parametrize("unused", [(), (0.9, -1.0)])
def test_at_nodes_it_is_the_share_of_positives_that_are_not_above_a_negative(unused):
    _, batch = one_anchor(positives=[0.0, 0.5], negatives=[-0.5, 0.0, 1.0], unused=unused)
    # The negative at -0.5 is below both, that at 0 reaches one, that at 1 is above both.
    value = Histogram(bins=4)(batch).value
    assert value.item() == pytest.approx((0.0 + 0.5 + 1.0) / 3.0)


def test_with_fine_bins_it_is_the_probability_of_a_wrong_order():
    generator = torch.Generator().manual_seed(1)
    positives, negatives = torch.rand(2, 40, generator=generator).double() * 2.0 - 1.0
    _, batch = one_anchor(positives=positives, negatives=negatives)
    wrong = (negatives[:, None] > positives).double().mean().item()
    assert Histogram(bins=1000)(batch).value.item() == pytest.approx(wrong, abs=0.01)


def test_histograms_in_order_have_no_loss_and_no_active_pair():
    anchor, batch = one_anchor(positives=[0.8, 0.9], negatives=[0.1, 0.2, 0.3])
    output = Histogram()(batch)
    (gradient,) = torch.autograd.grad(output.value, anchor)
    assert (output.value, output.active_fraction) == (0.0, 0.0)
    assert (gradient == 0.0).all()


def test_histograms_in_the_wrong_order_give_1_and_no_gradient():
    anchor, batch = one_anchor(positives=[0.1, 0.2, 0.3], negatives=[0.8, 0.9])
    output = Histogram()(batch)
    (gradient,) = torch.autograd.grad(output.value, anchor)
    assert output.value.item() == pytest.approx(1.0)
    assert output.active_fraction == 1.0
    assert gradient.norm() < 1e-9


def test_only_pairs_out_of_order_are_active():
    _, batch = one_anchor(positives=[0.9, 0.0], negatives=[0.5, -0.5])
    assert Histogram()(batch).active_fraction == 0.5
