"""Losses that at some settings are another one: value, gradients and what is active."""

import pytest
import torch

from podium.trainables.registry import names
from tests.trainables.losses.loss_cases import BATCHES, prepared_loss, run

EQUAL = [
    ("dr_multi_similarity", {"gamma": 0.0}, "multi_similarity", {}),
    ("dr_proxy_nca", {"gamma": 0.0, "scale": 4.0}, "proxy_nca", {"scale": 4.0}),
    ("cosface", {"margin": 0.0, "scale": 64.0}, "normalized_softmax", {"scale": 64.0}),
    ("arcface", {"margin_degrees": 0.0, "scale": 64.0}, "normalized_softmax", {"scale": 64.0}),
    ("proxy_nca_pp", {"scale": 9.0}, "normalized_softmax", {"scale": 18.0}),
    (
        "proxy_gml",
        {"subproxies": 1, "ratio": 1.0, "regulariser": 0.0},
        "normalized_softmax",
        {"scale": 1.0},
    ),
    *(
        ("dr_triplet", {"gamma": 0.0, **shared}, "triplet_l2", shared)
        for shared in ({"margin": 0.3, "miner": miner} for miner in names("miners"))
    ),
    (
        "subcentre_arcface",
        {"centres": 1, "margin_degrees": 40.0, "scale": 30.0},
        "arcface",
        {"margin_degrees": 40.0, "scale": 30.0},
    ),
    *(
        ("soft_triple", {"centres": 1, **shared, **ignored}, "cosface", shared)
        for shared in ({"margin": margin, "scale": 20.0} for margin in (0.0, 0.1, 0.6))
        for ignored in ({"gamma": 10.0, "tau": 0.0}, {"gamma": 0.1, "tau": 5.0})
    ),
]


@pytest.mark.parametrize("batch_name", BATCHES)
@pytest.mark.parametrize(("name", "settings", "other", "of_other"), EQUAL)
def test_it_is_the_other_loss(name, settings, other, of_other, batch_name):
    x, labels, num_classes = BATCHES[batch_name]
    first, second = (
        prepared_loss(loss, num_classes=num_classes, dtype=torch.float64, **hyperparameters)
        for loss, hyperparameters in ((name, settings), (other, of_other))
    )
    if hasattr(second, "proxies"):
        second.proxies.data = first.proxies.data.reshape(second.proxies.shape)
    value, gradients, active_fraction = run(first, x.double(), labels)
    expected, expected_gradients, expected_fraction = run(second, x.double(), labels)
    torch.testing.assert_close(value, expected, rtol=1e-12, atol=1e-13)
    torch.testing.assert_close(active_fraction, expected_fraction)
    for key, gradient in expected_gradients.items():
        found = gradients[key].reshape(gradient.shape)
        torch.testing.assert_close(found, gradient, rtol=1e-10, atol=1e-13)
