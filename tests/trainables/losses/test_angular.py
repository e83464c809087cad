import math

import pytest
import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.losses.angular import Angular
from tests.trainables.losses.loss_cases import BATCHES, full_batch, prepared_loss, run


def test_the_hinge_opens_where_the_negative_sees_the_pair_under_more_than_the_angle():
    """From n the half of a - p is seen, at its centre, under atan(|a - p| / 2 / |n - c|)."""
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    batch = Batch.of(x, torch.tensor([0, 0, 1]))
    seen = math.degrees(math.atan(math.sqrt(2.0) / 2.0 / (math.sqrt(10.0) / 2.0)))
    for angle, share in ((seen - 0.1, 1.0), (seen + 0.1, 0.0)):
        assert Angular(angle_degrees=angle, form="hinge")(batch).active_fraction == share


@pytest.mark.parametrize("angle_degrees", [0.0, 70.0])
@pytest.mark.parametrize("form", ["smooth", "hinge"])
def test_at_both_ends_of_what_is_legal_float32_is_close_to_float64(angle_degrees, form):
    x, labels, num_classes = BATCHES["balanced"]
    loss = prepared_loss(
        "angular", num_classes=num_classes, angle_degrees=angle_degrees, form=form
    )
    value, gradients, _ = run(loss, x, labels)
    exact, exact_gradients, _ = run(loss, x.double(), labels)
    torch.testing.assert_close(value.double(), exact, rtol=1e-4, atol=0.0)
    torch.testing.assert_close(
        gradients["embeddings"].double(), exact_gradients["embeddings"], rtol=1e-3, atol=1e-5
    )


def test_rows_with_different_hardest_negatives_do_not_underflow_together():
    """The anchor is close to one negative, the positive to another, on the far side."""
    x = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [1.0, 1e-3], [-1.0, 1e-3]])
    labels = torch.tensor([0, 0, 1, 1])
    value = Angular(angle_degrees=70.0)(full_batch(x, labels)).value
    exact = Angular(angle_degrees=70.0)(full_batch(x.double(), labels)).value
    assert exact > 10.0
    torch.testing.assert_close(value.double(), exact, rtol=1e-5, atol=0.0)
