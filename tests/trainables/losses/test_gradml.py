import pytest
import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.losses.gradml import GradML
from tests.trainables.losses.loss_cases import embeddings


@pytest.mark.parametrize("w", [0.5, 1.3])
def test_the_gradient_of_one_quadruplet_is_that_of_the_corrected_table(w):
    x1, x2, y1, y2 = unit = torch.nn.functional.normalize(embeddings(4, dtype=torch.float64))
    unit = unit.clone().requires_grad_()
    output = GradML(k=2.0, w=w)(Batch.of(unit, torch.tensor([0, 0, 1, 1])))
    gradient = torch.autograd.grad(output.value, unit)[0][0]
    expected = 2.0 * ((1.0 - 2.0 * w) * x1 - x2 + w * (y1 + y2))
    # Normalising takes out the part along x1.
    torch.testing.assert_close(gradient, expected - (expected @ x1) * x1)
