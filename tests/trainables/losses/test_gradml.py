import pytest
import torch

from tests.trainables.losses.loss_cases import BATCHES, embeddings
from trainables.loss_composition.batch import Batch
from trainables.losses.csml import CSML
from trainables.losses.gradml import GradML


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


@pytest.mark.parametrize(("k", "expected"), [(1.5, 1), (2.0, 0), (2.5, -1), (3.0, -1)])
def test_two_opposite_points_are_worse_than_even_classes_below_power_two_and_better_above(
    k, expected
):
    corners = [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]  # of a tetrahedron
    poles = [[1, 0, 0], [1, 0, 0], [-1, 0, 0], [-1, 0, 0]]
    labels = torch.arange(4).repeat_interleave(2)
    even, collapsed = (
        GradML(k=k)(Batch.of(torch.tensor(places).double().repeat_interleave(2, 0), labels)).value
        for places in (corners, poles)
    )
    difference = (collapsed - even).item()
    assert (difference > 1e-6) - (difference < -1e-6) == expected


def test_without_weight_on_negatives_images_of_a_class_collapse_to_zero_loss():
    x = embeddings(6, dtype=torch.float64).repeat_interleave(4, dim=0)
    output = GradML(k=2.0, w=0.0)(Batch.of(x, torch.arange(6).repeat_interleave(4)))
    assert output.value.abs() < 1e-11


def test_a_class_of_a_single_image_is_in_no_quadruplet():
    x = embeddings(5, dtype=torch.float64)
    with_single = GradML()(Batch.of(x, torch.tensor([0, 0, 1, 1, 2]))).value
    torch.testing.assert_close(
        with_single, GradML()(Batch.of(x[:4], torch.tensor([0, 0, 1, 1]))).value
    )
    assert GradML()(Batch.of(x, torch.tensor([0, 0, 0, 1, 2]))).active_fraction == 0.0
