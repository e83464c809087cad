"""How the losses that train proxies hang together, and what they are where their margins end."""

import math

import pytest
import torch
from torch.nn.functional import normalize

from tests.trainables.losses.loss_cases import BATCHES, on_circle, prepared_loss, run

X, LABELS, NUM_CLASSES = BATCHES["clustered"]


def in_plane(name, sample_degrees, proxy_degrees, **hyperparameters):
    """The loss of one sample of class 0 whose proxies stand at these angles."""
    loss = prepared_loss(
        name, num_classes=len(proxy_degrees), dim=2, dtype=torch.float64, **hyperparameters
    )
    loss.proxies.data = on_circle(*proxy_degrees)
    value, gradients, _ = run(loss, on_circle(sample_degrees), torch.zeros(1, dtype=torch.int64))
    return value, gradients


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


@pytest.mark.parametrize("label", [0, 1])
def test_a_sample_on_a_proxy_has_a_finite_gradient(label):
    """Its own proxy or another's; the direction to it is then undefined."""
    loss = prepared_loss("dr_proxy_nca", num_classes=3, gamma=1.0)
    x = loss.proxies.data[:1].clone()
    value, gradients, _ = run(loss, x, torch.tensor([label]))
    assert value.isfinite()
    assert all(gradient.isfinite().all() for gradient in gradients.values())
    assert all(gradient.abs().max() < 100.0 for gradient in gradients.values())


def margin_loss(name="margin", **hyperparameters):
    return prepared_loss(name, num_classes=NUM_CLASSES, dtype=torch.float64, **hyperparameters)


@pytest.mark.parametrize("name", ["margin", "margin_cosine"])
def test_a_boundary_that_is_not_trained_is_no_parameter_and_acts_as_one_at_its_start(name):
    trained, given = (margin_loss(name, learn_beta=is_learned) for is_learned in (True, False))
    assert trained.beta.shape == (NUM_CLASSES,)
    assert list(given.parameters()) == []
    value, gradients, active_fraction = run(trained, X.double(), LABELS)
    assert gradients.pop("beta").abs().sum() > 0.0
    torch.testing.assert_close(run(given, X.double(), LABELS), (value, gradients, active_fraction))


def test_nu_of_the_margin_loss_alone_is_not_active():
    """All pairs are where they should be, so there is no open hinge to divide by."""
    x = torch.eye(2, 8, dtype=torch.float64).repeat_interleave(2, 0)
    loss = prepared_loss("margin", num_classes=2, beta=0.7, nu=1.0, miner="all_triplets").double()
    value, gradients, active_fraction = run(loss, x, torch.tensor([0, 0, 1, 1]))
    assert value == active_fraction == 0.0
    assert (gradients["beta"] == 0.0).all()


def test_probability_driven_starts_from_the_initial_numbers():
    default = prepared_loss("probability_driven", num_classes=6)
    assert dict(default.named_parameters()) == {"scale": 10.0, "offset": -5.0}
    loss = prepared_loss(
        "probability_driven", num_classes=6, initial_scale=3.0, initial_offset=-2.0
    )
    assert dict(loss.named_parameters()) == {"scale": 3.0, "offset": -2.0}


def proxy_gml(**hyperparameters):
    return prepared_loss(
        "proxy_gml", num_classes=NUM_CLASSES, dtype=torch.float64, **hyperparameters
    )


def test_a_ratio_of_proxy_gml_too_small_for_another_class_leaves_nothing_active():
    loss = proxy_gml(subproxies=4, ratio=0.01, regulariser=0.0)
    value, gradients, active_fraction = run(loss, X.double(), LABELS)
    assert value == active_fraction == 0.0
    assert all((gradient == 0.0).all() for gradient in gradients.values())


def test_with_a_regulariser_the_proxies_count_as_samples():
    loss = proxy_gml(subproxies=4, ratio=0.01, regulariser=1.0)
    _, gradients, active_fraction = run(loss, X.double(), LABELS)
    assert (gradients["embeddings"] == 0.0).all()
    assert (gradients["proxies"] != 0.0).any()
    assert active_fraction.item() == pytest.approx(4 * NUM_CLASSES / (4 * NUM_CLASSES + len(X)))


def test_a_kept_proxy_at_a_right_angle_stays_in_the_sum():
    """Its cosine is 0, which is not the same as not being kept."""
    loss = prepared_loss(
        "proxy_gml", num_classes=2, dim=2, subproxies=1, ratio=1.0, regulariser=0.0
    )
    loss.proxies.data = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    value, _, _ = run(loss, torch.tensor([[1.0, 0.0]]), torch.tensor([0]))
    assert value.item() == pytest.approx(math.log(1.0 + math.exp(-1.0)))


def test_coinciding_centres_of_soft_triple_have_a_finite_gradient_in_float32():
    loss = prepared_loss("soft_triple", num_classes=NUM_CLASSES, centres=3, tau=1.0)
    loss.proxies.data = loss.proxies.data[:1].expand(3, -1, -1).clone()
    value, gradients, _ = run(loss, X, LABELS)
    assert value.isfinite()
    assert all(gradient.isfinite().all() for gradient in gradients.values())


def test_with_a_single_class_the_centres_still_merge():
    loss = prepared_loss("soft_triple", num_classes=1, centres=3)
    value, gradients, active_fraction = run(loss, X, torch.zeros_like(LABELS))
    assert value > 0.0
    assert (gradients["proxies"] != 0.0).any()
    assert (gradients["embeddings"] == 0.0).all()
    assert active_fraction == 1.0


def naive_push(similarities_CC, *, alpha, margin):
    powers = torch.exp(alpha * (similarities_CC + margin)).fill_diagonal_(0.0)
    return torch.log(1.0 + powers.sum(1)).mean()


def alike(num_rows, dim=64, cosine=0.9):
    """Unit vectors whose cosines to each other are about ``cosine``."""
    generator = torch.Generator().manual_seed(0)
    common, own = (
        normalize(torch.randn(rows, dim, generator=generator), dim=1) for rows in (1, num_rows)
    )
    return normalize(math.sqrt(cosine) * common + math.sqrt(1.0 - cosine) * own, dim=1)


def test_the_second_loss_is_finite_where_the_formula_as_it_stands_overflows():
    """As early in training: 180 embeddings alike, proxies not far from them."""
    x, labels = alike(180), torch.arange(180) % 30
    loss = prepared_loss("thesis_loss_2", num_classes=30, dim=64, alpha=100.0)
    loss.proxies.data = alike(30, cosine=0.5) + alike(1)
    S_BC = x @ normalize(loss.proxies.data, dim=1).T
    assert naive_push(S_BC.T @ S_BC, alpha=100.0, margin=0.1).isinf()
    value, gradients, _ = run(loss, x, labels)
    exact, exact_gradients, _ = run(loss.double(), x.double(), labels)
    torch.testing.assert_close(value.double(), exact, rtol=1e-5, atol=0.0)
    for name, gradient in gradients.items():
        torch.testing.assert_close(gradient.double(), exact_gradients[name], rtol=1e-2, atol=1e-3)
