import pytest
import torch

from podium.trainables.losses.nca import Nca
from tests.trainables.losses.one_anchor import one_anchor


def test_a_probability_that_underflows_still_has_a_loss_and_a_gradient():
    anchor, batch = one_anchor(positives=[-0.9], negatives=[0.6])
    value = Nca(softmax_scale=1000.0)(batch).value
    assert value.item() == pytest.approx(3000.0)
    (gradient,) = torch.autograd.grad(value, anchor)
    assert gradient.norm() > 100.0
