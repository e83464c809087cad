"""Whole-batch gradients from a network that sees a few images at a time."""

import pytest
import torch

from podium.trainables.errors import TrialInputError
from podium.trainables.loss_composition.batch import Batch
from podium.trainables.registry import load
from podium.trainables.training_loop.micro_batches import backpropagate
from tests.trainables.losses.loss_cases import full_batch, prepared_loss
from tests.trainables.tiny_networks import settings, tiny_images, tiny_network

LABELS = torch.arange(5).repeat_interleave(2)
LOSSES = ("multi_similarity", "proxy_anchor")
NUM_IMAGES = len(LABELS)


def prepared(loss):
    return prepared_loss(loss, num_classes=5, dim=4, dtype=torch.float64)


def double_network(**changes):
    network = tiny_network(**changes)
    network.embedder.double()
    return network


def gradients(network, criterion, size, *, seed=9):
    modules = (network.embedder, criterion)
    for module in modules:
        module.zero_grad()
    torch.manual_seed(seed)
    output = backpropagate(
        network,
        tiny_images(NUM_IMAGES),
        lambda embeddings: criterion(full_batch(embeddings, LABELS)),
        size,
    )
    named = [item for module in modules for item in module.named_parameters()]
    return output.value.item(), {name: weight.grad.clone() for name, weight in named}


@pytest.mark.parametrize("size", [1, 3, 5, 9])
@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_are_those_of_the_whole_batch(loss, size):
    network, criterion = double_network(), prepared(loss)
    network.eval()  # BatchNorm by its statistics
    value, whole = gradients(network, criterion, 0)
    in_parts, parts = gradients(network, criterion, size)
    assert in_parts == pytest.approx(value, rel=1e-12)
    assert whole["backbone.convolution.weight"].abs().max() > 0
    for name, expected in whole.items():
        torch.testing.assert_close(parts[name], expected, rtol=1e-10, atol=1e-12)


def test_dropout_draws_the_same_numbers_in_both_passes():
    network, criterion = double_network(dropout=0.5, has_batch_norm=False), prepared("contrastive")
    network.train()
    torch.manual_seed(9)
    with torch.no_grad():
        embeddings = torch.cat([network(part) for part in tiny_images(NUM_IMAGES).split(4)])
    expected = criterion(full_batch(embeddings, LABELS)).value.item()

    # The gradient of the loss that these very masks make, by finite differences.
    value, found = gradients(network, criterion, 4)
    assert value == pytest.approx(expected, rel=1e-12)
    weight = network.embedder.backbone.convolution.weight
    step = 1e-6
    with torch.no_grad():
        weight[0, 0, 0, 0] += step
    above, _ = gradients(network, criterion, 4)
    with torch.no_grad():
        weight[0, 0, 0, 0] -= 2 * step
    below, _ = gradients(network, criterion, 4)
    numeric = (above - below) / (2 * step)
    assert found["backbone.convolution.weight"][0, 0, 0, 0].item() == pytest.approx(
        numeric, rel=1e-4
    )
    assert numeric != 0.0


def test_random_numbers_go_on_as_after_one_pass():
    network, criterion = tiny_network(dropout=0.5), prepared("contrastive")
    network.train()
    after = []
    for size in (0, 5):
        gradients(network, criterion, size)
        after.append(torch.rand(1))
    assert torch.equal(*after)


def test_running_statistics_follow_each_part_once():
    network, criterion = tiny_network(), prepared("contrastive")
    network.train()
    gradients(network, criterion, 5)

    other = tiny_network()
    other.train()
    with torch.no_grad():
        for part in tiny_images(NUM_IMAGES).split(5):
            other(part)
    found, expected = (dict(made.embedder.named_buffers()) for made in (network, other))
    assert expected["backbone.norm.num_batches_tracked"] == 2
    for name, value in expected.items():
        assert torch.equal(found[name], value), name


@pytest.mark.parametrize(
    ("size", "expected"), [(9, [5, 5]), (7, [5, 5]), (4, [4, 3, 3]), (1, [1] * 10)]
)
def test_parts_are_as_equal_as_they_can_be(size, expected):
    network, criterion = tiny_network(), prepared("contrastive")
    seen = []
    network.embedder.register_forward_pre_hook(lambda _, given: seen.append(len(given[0])))
    gradients(network, criterion, size)
    assert seen == [*expected, *expected]


def test_an_image_that_would_be_normalised_by_itself_alone_is_reported():
    images = tiny_images(NUM_IMAGES)[:, :, :3, :3]  # a map of one pixel

    def loss_of(embeddings):
        return prepared("contrastive")(full_batch(embeddings, LABELS))

    network = tiny_network()
    network.embedder.train()
    with pytest.raises(TrialInputError, match="micro_batch_size 1 leaves one image by itself"):
        backpropagate(network, images, loss_of, 1)
    backpropagate(network, images, loss_of, 2)
    network.eval()
    backpropagate(network, images, loss_of, 1)


def test_a_resting_backbone_gets_no_gradient_from_parts():
    network, criterion = tiny_network(), prepared("contrastive")
    network.embedder.backbone.requires_grad_(False)
    backpropagate(
        network,
        tiny_images(NUM_IMAGES),
        lambda embeddings: criterion(full_batch(embeddings, LABELS)),
        4,
    )
    have = {name for name, p in network.embedder.named_parameters() if p.grad is not None}
    assert have == {"embedding.weight", "embedding.bias"}


@pytest.mark.gpu
def test_dropout_is_replayed_on_cuda():
    network = tiny_network(settings(), dropout=0.5, has_batch_norm=False)
    network.embedder.cuda()
    network.train()
    criterion = load("losses", "contrastive")()
    images, labels = tiny_images(NUM_IMAGES).cuda(), LABELS.cuda()
    seen = []

    def loss_of(embeddings):
        seen.append(embeddings.detach().clone())
        return criterion(Batch.of(embeddings, labels))

    torch.manual_seed(3)
    backpropagate(network, images, loss_of, 4)
    torch.manual_seed(3)
    again = torch.cat([network(part) for part in images.tensor_split(3)])
    assert torch.equal(seen[0], again.detach())
