import pytest
import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.losses.csml import CSML
from podium.trainables.losses.gradml import GradML
from tests.trainables.losses.loss_cases import BATCHES, embeddings


@pytest.mark.parametrize("w", [0.5, 1.3])
def test_the_gradient_of_one_quadruplet_is_that_of_the_corrected_table(w):
    x1, x2, y1, y2 = unit = torch.nn.functional.normalize(embeddings(4, dtype=torch.float64))
    unit = unit.clone().requires_grad_()
    output = GradML(k=2.0, w=w)(Batch.of(unit, torch.tensor([0, 0, 1, 1])))
    gradient = torch.autograd.grad(output.value, unit)[0][0]
    expected = 2.0 * ((1.0 - 2.0 * w) * x1 - x2 + w * (y1 + y2))
    # Normalising takes out the part along x1.
    torch.testing.assert_close(gradient, expected - (expected @ x1) * x1)


@pytest.mark.parametrize("w", [0.5, 1.0, 2.3])
def test_on_balanced_batches_it_is_at_power_two_four_times_csml_and_a_constant(w):
    x, labels, _ = BATCHES["balanced"]
    x = x.double().requires_grad_()
    ours, active_fraction = GradML(k=2.0, w=w)(Batch.of(x, labels))
    assert active_fraction == 1.0
    theirs = 4.0 * CSML(negative_weight=2.0 * w)(Batch.of(x, labels)).value + 4.0 - 8.0 * w
    torch.testing.assert_close(ours, theirs)
    gradients = [torch.autograd.grad(value, x)[0] for value in (ours, theirs)]
    torch.testing.assert_close(*gradients)
