"""How the losses that classify by proxies hang together, and where their margins end."""

import math

import pytest
import torch

from podium.trainables.recipes import loss_values
from tests.trainables.losses.loss_cases import BATCHES, on_circle, prepared_loss, run

X, LABELS, NUM_CLASSES = BATCHES["clustered"]


def value_and_gradients(name, x=X, labels=LABELS, **hyperparameters):
    loss = prepared_loss(name, num_classes=NUM_CLASSES, dtype=torch.float64, **hyperparameters)
    value, gradients, _ = run(loss, x.double(), labels)
    return value, gradients


def in_plane(name, sample_degrees, proxy_degrees, **hyperparameters):
    """The loss of one sample of class 0 whose proxies stand at these angles."""
    loss = prepared_loss(
        name, num_classes=len(proxy_degrees), dim=2, dtype=torch.float64, **hyperparameters
    )
    loss.proxies.data = on_circle(*proxy_degrees)
    value, gradients, _ = run(loss, on_circle(sample_degrees), torch.zeros(1, dtype=torch.int64))
    return value, gradients


@pytest.mark.parametrize("scale", [1.0, 8.0])
def test_proxy_nca_of_a_sample_is_proxy_nca_pp_without_the_own_class(scale):
    for x, label in zip(X, LABELS, strict=True):
        alone = {"x": x[None], "labels": label[None], "scale": scale}
        with_own, _ = value_and_gradients("proxy_nca_pp", **alone)
        without_own, _ = value_and_gradients("proxy_nca", **alone)
        torch.testing.assert_close(without_own, with_own.expm1().log(), rtol=1e-9, atol=1e-12)


def test_proxy_nca_in_the_recipe_of_the_thesis_is_its_equation_2_27_on_cosines():
    scale = loss_values("psomas2020", "proxy_nca")["scale"]
    cosines = [math.cos(math.radians(angle)) for angle in (10.0, 80.0, 140.0)]
    value, _ = in_plane("proxy_nca", 0.0, (10.0, 80.0, 140.0), scale=scale)
    others = sum(math.exp(cosine) for cosine in cosines[1:])
    assert value.item() == pytest.approx(-math.log(math.exp(cosines[0]) / others))


def test_the_softmax_starts_with_small_logits_for_embeddings_of_length_one():
    loss = prepared_loss("softmax", num_classes=50, dim=400)
    assert loss.proxies.abs().max() <= 1.0 / 20.0
    assert loss.proxies.std().item() == pytest.approx(1.0 / math.sqrt(3 * 400), rel=0.05)


@pytest.mark.parametrize("degrees", [100.0, 119.9, 120.1, 150.0, 179.0])
def test_arcface_pulls_a_sample_to_its_proxy_on_both_sides_of_half_a_turn(degrees):
    """With a margin of 60 degrees the sum of the angles passes 180 at 120."""
    # The other proxy stands opposite to the sample, where it neither pulls nor pushes.
    proxy_degrees = (0.0, degrees + 180.0)
    _, gradients = in_plane("arcface", degrees, proxy_degrees, margin_degrees=60.0, scale=1.0)
    tangent = on_circle(degrees + 90.0)[0]
    assert torch.dot(gradients["embeddings"][0], tangent) > 0.0


def test_a_sample_on_its_proxy_or_opposite_to_it_has_a_finite_arcface_gradient():
    for degrees in (0.0, 180.0):
        for dtype in (torch.float32, torch.float64):
            loss = prepared_loss("arcface", num_classes=2, dim=2, dtype=dtype)
            loss.proxies.data = on_circle(0.0, 90.0).to(dtype)
            _, gradients, _ = run(loss, on_circle(degrees).to(dtype), torch.tensor([0]))
            assert all(gradient.isfinite().all() for gradient in gradients.values())


@pytest.mark.parametrize("name", ["soft_triple", "subcentre_arcface"])
def test_centres_are_as_long_as_proxies_so_one_learning_rate_turns_both_alike(name):
    several = prepared_loss(name, num_classes=50, dim=64, centres=4).proxies.data
    single = prepared_loss("cosface", num_classes=50, dim=64).proxies.data
    assert several.shape == (4, 50, 64)
    torch.testing.assert_close(
        several.norm(dim=2).mean(), single.norm(dim=1).mean(), rtol=0.03, atol=0.0
    )
