"""The direction regulariser on proxy-NCA: at known angles, and on the proxies."""

import math

import pytest
import torch

from tests.trainables.losses.loss_cases import on_circle, prepared_loss, run


@pytest.mark.parametrize(
    ("own_degrees", "other_degrees", "angle_degrees"),
    [(-90.0, 0.0, 45.0), (0.0, 180.0, 90.0), (0.0, -90.0, 45.0), (-90.0, -89.0, 0.5)],
)
def test_the_cosine_is_that_of_the_differences(own_degrees, other_degrees, angle_degrees):
    """Seen from a point of the circle, here at 90 degrees, an arc spans half its angle."""
    x = torch.tensor([[0.0, 1.0]], dtype=torch.float64)
    values = []
    for gamma in (0.0, 2.0):
        loss = prepared_loss(
            "dr_proxy_nca", num_classes=2, dim=2, dtype=torch.float64, gamma=gamma
        )
        loss.proxies.data = on_circle(own_degrees, other_degrees)
        values.append(run(loss, x, torch.tensor([0]))[0].item())
    expected = 2.0 * math.cos(math.radians(angle_degrees))
    assert values[0] - values[1] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("label", [0, 1])
def test_a_sample_on_a_proxy_has_a_finite_gradient(label):
    """Its own proxy or another's; the direction to it is then undefined."""
    loss = prepared_loss("dr_proxy_nca", num_classes=3, gamma=1.0)
    x = loss.proxies.data[:1].clone()
    value, gradients, _ = run(loss, x, torch.tensor([label]))
    assert value.isfinite()
    assert all(gradient.isfinite().all() for gradient in gradients.values())
    assert all(gradient.abs().max() < 100.0 for gradient in gradients.values())
