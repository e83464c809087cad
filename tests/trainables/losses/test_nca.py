import math

import pytest
import torch

from tests.trainables.losses.one_anchor import one_anchor
from trainables.loss_composition.batch import Batch
from trainables.losses.nca import Nca


@pytest.mark.parametrize("unused", [(), (0.9, -1.0)])
def test_one_anchor_by_hand(unused):
    _, batch = one_anchor(positives=[0.5], negatives=[0.0, -0.5], unused=unused)
    output = Nca(softmax_scale=2.0)(batch)
    squared_distances = [1.0, 2.0, 3.0]
    weights = [math.exp(-2.0 * distance) for distance in squared_distances]
    assert output.value.item() == pytest.approx(-math.log(weights[0] / sum(weights)))
    assert output.active_fraction == 1.0


def test_a_probability_that_underflows_still_has_a_loss_and_a_gradient():
    anchor, batch = one_anchor(positives=[-0.9], negatives=[0.6])
    value = Nca(softmax_scale=1000.0)(batch).value
    assert value.item() == pytest.approx(3000.0)
    (gradient,) = torch.autograd.grad(value, anchor)
    assert gradient.norm() > 100.0


def test_anchors_without_negatives_count_with_0():
    x = torch.tensor([[1.0, 0.0], [0.6, 0.8]])
    output = Nca()(Batch.of(x, torch.tensor([0, 0])))
    assert (output.value, output.active_fraction) == (0.0, 0.0)
