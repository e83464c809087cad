"""What only a GPU would tell - devices, waiting, determinism - told without one."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from podium.trainables.batches.image_batches import ResidentBatches
from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.make_criterion import make_criterion
from podium.trainables.network.backbone_facts import backbone_facts
from podium.trainables.network.embedder import Embedder
from podium.trainables.network.network import Network
from podium.trainables.registry import load, names
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.trial.fold_run import FoldRun
from podium.trainables.trial.setup import set_up
from tests.trainables.backbone_names import backbones
from tests.trainables.losses.loss_cases import balanced_labels, embeddings, full_batch
from tests.trainables.tiny_trials import tiny_trial
from tests.trainables.without_cuda import CUDA, WithoutCuda

NUM_CLASSES, SAMPLES = 6, 4


@pytest.fixture
def gpu():
    return WithoutCuda()


@pytest.mark.parametrize("expression", [*names("losses"), "memory:contrastive", "softmax>triplet"])
def test_a_loss_stays_where_its_batch_is_and_waits_for_nothing(gpu, expression):
    loss = make_criterion(expression, {})
    loss.prepare(NUM_CLASSES, 8, torch.Generator().manual_seed(1))
    gpu.module(loss)
    batch = full_batch(embeddings(NUM_CLASSES * SAMPLES), balanced_labels(NUM_CLASSES, SAMPLES))
    batch = Batch(*(value if value is None else gpu.tensor(value) for value in batch))
    leaf = batch.embeddings_BD.requires_grad_()
    unit = gpu.run(functional.normalize, leaf)
    for epoch in (1, 2) if set(expression) & set(":>") else (1,):
        loss.start_epoch(epoch)
        output = gpu.run(loss, batch._replace(normalised_BD=unit))
        assert [part.device for part in output] == [CUDA, CUDA]
        assert gpu.refused(output.value) == []
    assert gpu.waits == []


@pytest.mark.parametrize("name", backbones())
def test_a_network_has_a_deterministic_gradient_with_any_head(gpu, name):
    takes_features = load("backbones", name).takes_features
    training = TrainingSettings(pooling="average+max", layer_norm=True, l2=True)
    with torch.device("meta"):
        backbone = load("backbones", name)(**({"num_inputs": 16} if takes_features else {}))
        images = torch.empty(2, 16) if takes_features else torch.empty(2, 3, 64, 64).byte()
        network = Network(Embedder(backbone, 8, training), training, CUDA)
    gpu.module(network.embedder)
    found = gpu.run(network, gpu.tensor(images))
    assert (found.shape, found.dtype, found.device) == ((2, 8), torch.float32, CUDA)
    assert gpu.refused(found) == []
    assert gpu.waits == []


@pytest.mark.parametrize("name", backbones())
def test_a_network_takes_image_sizes_that_a_plan_lets_through(gpu, name):
    loaded, facts = load("backbones", name), backbone_facts(name)
    if facts.takes_features:
        return
    with torch.device("meta"):
        backbone = loaded().eval()
    gpu.module(backbone)
    legal = [side for side in range(1, 231) if facts.size_problem(name, side) is None]
    for side in {legal[0], legal[-1]}:
        images = gpu.tensor(torch.empty(1, 1, side, side, dtype=torch.uint8))
        with torch.no_grad():
            found = gpu.run(backbone, images)
        assert found.shape[:2] == (1, backbone.num_features)


REFUSED = {
    "nn.AdaptiveAvgPool2d": lambda x: nn.AdaptiveAvgPool2d(2)(x),
    "nn.AdaptiveMaxPool2d": lambda x: nn.AdaptiveMaxPool2d(2)(x),
    "bicubic": lambda x: functional.interpolate(x, (7, 7), mode="bicubic"),
    "reflection": lambda x: functional.pad(x, (1, 1, 1, 1), mode="reflect"),
    "median": lambda x: x.median(1).values,
    "scatter_reduce": lambda x: x.scatter_reduce(1, (x > 0).long(), x, "amax"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_torch_refuses_is_reported(gpu, name):
    images = gpu.tensor(torch.zeros(2, 3, 5, 5)).requires_grad_()
    assert len(gpu.refused(gpu.run(REFUSED[name], images))) == 1


WRONG = {
    "two devices": lambda x: x + torch.zeros(3),
    "a number asked for": lambda x: x.sum().item(),
    "a shape that depends on numbers": lambda x: x[x > 0],
}


@pytest.mark.parametrize("what", WRONG)
def test_other_devices_and_waiting_are_reported(gpu, what):
    with pytest.raises(Exception, match=r"devices|data-dep|dynamic|_local_scalar|nonzero"):
        gpu.run(WRONG[what], gpu.tensor(torch.zeros(3)))
    gpu.run(lambda: torch.zeros(3).to(CUDA))
    assert gpu.waits == ["(3,) to cuda"]


def test_images_are_chosen_and_shifted_without_waiting(gpu):
    batches = ResidentBatches(gpu.tensor(torch.zeros(6, 1, 5, 5).byte()), is_shifted=True)
    positions = [np.arange(4), np.arange(2, 6)]
    found = gpu.run(lambda: list(batches.training(positions, seed=0, num_views=2)))
    assert [(len(images), images.device) for images in found] == [(8, CUDA)] * 2
    assert gpu.waits == []


def test_what_a_loss_needs_is_sent_without_waiting(gpu, cache_folder):
    run = FoldRun(set_up(tiny_trial(cache_folder, loss="margin")), 0, torch.device("cpu"))
    batches = run._trainer._batches
    batches._labels_N = gpu.tensor(batches._labels_N)
    beside = gpu.run(batches._beside_embeddings, np.arange(8), torch.Generator())
    assert {name: value.device for name, value in beside.items()} == {
        "labels_B": CUDA,
        "uniform_BB": CUDA,
    }
    assert gpu.waits == []
