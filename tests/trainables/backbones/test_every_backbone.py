"""What holds for every backbone of the registry, whatever it is made of."""

from hashlib import sha256

import pytest
import torch

from podium.trainables.errors import TrialInputError
from podium.trainables.network.embedder import Embedder
from podium.trainables.network.make_backbone import make_backbone
from podium.trainables.registry import load
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.settings.trial_settings import BackboneSettings
from tests.trainables.backbone_names import backbones

NUM_INPUTS = 48
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def inputs_of(backbone, name, batch=3, channels=3, side=None):
    generator = torch.Generator().manual_seed(0)
    if backbone.takes_features:
        return torch.randn(batch, NUM_INPUTS, generator=generator)
    side = side or 64
    return torch.randint(256, (batch, channels, side, side), generator=generator).byte()


def made(name, seed=0):
    torch.manual_seed(seed)
    num_inputs = NUM_INPUTS if load("backbones", name).takes_features else None
    return make_backbone(BackboneSettings(name=name), num_inputs)


def embedder_of(backbone):
    torch.manual_seed(1)
    return Embedder(backbone, 8, TrainingSettings(pooling="average+max"))


def assert_near(found, expected, part):
    """Relative to the whole: an untrained network without batch statistics has any scale."""
    assert (found - expected).norm() < part * expected.norm()


@pytest.fixture(scope="module", params=backbones())
def name(request):
    return request.param


@pytest.fixture(scope="module")
def shared(name):
    """One network for several tests, since the large ones take a second to make."""
    return made(name)


@pytest.fixture
def backbone(shared):
    before = {key: value.clone() for key, value in shared.named_buffers()}
    yield shared.train()
    shared.zero_grad(set_to_none=True)
    shared.cpu()
    for key, value in shared.named_buffers():
        value.copy_(before[key])


def test_images_become_a_map_or_features_of_the_declared_length(backbone, name):
    found = backbone.eval()(inputs_of(backbone, name))
    assert found.shape[:2] == (3, backbone.num_features)
    assert found.ndim == (4 if backbone.has_map else 2)
    assert found.dtype == torch.float32
    assert found.isfinite().all()
    assert (found[0] != found[1]).any()


def test_an_embedding_follows_from_its_image_alone(backbone, name):
    embedder = embedder_of(backbone).eval()
    images = inputs_of(backbone, name)
    with torch.no_grad():
        assert_near(embedder(images)[1:2], embedder(images[1:2]), 1e-5)


def test_a_grey_image_is_an_rgb_image_of_equal_channels(backbone, name):
    if backbone.takes_features:
        return
    grey = inputs_of(backbone, name, channels=1)
    backbone.eval()
    with torch.no_grad():
        assert_near(backbone(grey), backbone(grey.repeat(1, 3, 1, 1)), 1e-5)


@pytest.mark.parametrize("device", DEVICES)
def test_every_weight_gets_a_gradient_and_always_the_same(backbone, name, device, deterministic):
    embedder = embedder_of(backbone).to(device)
    images = inputs_of(backbone, name).to(device)
    once, again = gradients(embedder, images), gradients(embedder, images)
    assert once.keys() == dict(embedder.named_parameters()).keys()
    assert [key for key, (size, _) in once.items() if not size > 0] == []
    assert [key for key in once if once[key] != again[key]] == []


@pytest.fixture
def deterministic(monkeypatch):
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


def gradients(embedder, images):
    """Of each weight how large its gradient is, and a digest: two of all take much memory."""
    embedder.zero_grad(set_to_none=True)
    torch.manual_seed(2)
    embeddings = embedder(images)
    # Weighted: the plain sum of squares behind a LayerNorm has no gradient.
    weights = torch.arange(embeddings.numel(), device=images.device).view_as(embeddings).cos()
    (embeddings * weights).sum().backward()
    return {
        key: (
            weight.grad.abs().sum().item(),
            sha256(weight.grad.cpu().contiguous().numpy()).digest(),
        )
        for key, weight in embedder.named_parameters()
    }


def test_bfloat16_changes_embeddings_little_and_leaves_them_float32(backbone, name):
    embedder = embedder_of(backbone).eval()
    images = inputs_of(backbone, name)
    with torch.no_grad():
        exact = embedder(images)
        with torch.autocast("cpu", torch.bfloat16):
            rough = embedder(images)
    assert rough.dtype == torch.float32
    assert_near(rough, exact, 0.1)


def test_weights_are_drawn_from_the_seed_alone(backbone, name):
    again = made(name)
    drawn, weights = torch.get_rng_state(), backbone.state_dict()
    assert weights.keys() == again.state_dict().keys()
    assert [
        key for key, value in again.state_dict().items() if (value != weights[key]).any()
    ] == []
    torch.manual_seed(0)
    assert torch.equal(drawn, torch.get_rng_state()) == (not weights)


def test_images_of_other_sides_than_a_network_takes_are_refused(backbone, name):
    multiple, least = backbone.side_multiple, backbone.min_side
    if multiple > 1:
        side = 2 * multiple + backbone.side_slack + 1
        with pytest.raises(
            TrialInputError,
            match=f"^{name} takes images whose sides are multiples of {multiple}.*, "
            f"but got {side} x {side}$",
        ):
            backbone(inputs_of(backbone, name, side=side))
    if least > 1:
        side = least - multiple + backbone.side_slack
        with pytest.raises(TrialInputError, match=f"sides have at least {least} pixels"):
            backbone(inputs_of(backbone, name, side=side))
