"""What only a real GPU can tell: equal bits, nearness to the CPU, and whose memory is measured."""

from dataclasses import replace

import pytest
import torch

from podium.trainables.device import peak_memory_mb, reset_peak_memory
from podium.trainables.loss_composition.make_criterion import make_criterion
from podium.trainables.reproducibility import reproducible
from podium.trainables.settings.trial_settings import BackboneSettings, DatasetSettings
from podium.trainables.trial.run_trial import run_trial
from tests.trainables.losses.loss_cases import LOSSES, balanced_labels, embeddings, full_batch
from tests.trainables.tiny_trials import tiny_trial, two_folds, untimed

CUDA = torch.device("cuda")
pytestmark = pytest.mark.gpu
CLASSES, SAMPLES, DIM = 12, 5, 64


def value_and_gradients(expression, device):
    """Of one step of a loss, on the CPU whatever the device."""
    loss = make_criterion(expression, {})
    loss.prepare(CLASSES, DIM, torch.Generator().manual_seed(1))
    loss.to(device)
    loss.start_epoch(1)
    labels = balanced_labels(CLASSES, SAMPLES)
    leaf = embeddings(len(labels), dim=DIM).requires_grad_()
    batch = full_batch(leaf, labels)
    moved = type(batch)(*(value if value is None else value.to(device) for value in batch))
    with reproducible(0, 1):
        output = loss(moved)
        inputs = [leaf, *loss.parameters()]
        gradients = torch.autograd.grad(output.value, inputs, materialize_grads=True)
    return [output.value.detach().cpu(), *(gradient.cpu() for gradient in gradients)]


@pytest.mark.parametrize(
    "expression", [*LOSSES, "memory:contrastive", "matryoshka:proxy_anchor", "softmax>triplet"]
)
def test_a_loss_gives_the_same_bits_again_and_nearly_those_of_the_cpu(expression):
    once, again = (value_and_gradients(expression, CUDA) for _ in range(2))
    assert all(torch.equal(one, other) for one, other in zip(once, again, strict=True))
    for found, expected in zip(once, value_and_gradients(expression, "cpu"), strict=True):
        assert (found - expected).norm() <= 1e-3 * expected.norm() + 1e-5


def large_trial(cache_folder, backbone, **training):
    """Glyphs as RGB networks take them, at 64 pixels."""
    options = {"classes": 40, "instances_per_class": 8, "size": 64}
    settings = tiny_trial(
        cache_folder,
        dataset=DatasetSettings(name="glyphs", options=options),
        backbone=BackboneSettings(name=backbone),
        loss="proxy_anchor",
    )
    return replace(settings, training=replace(settings.training, **training))


TRIALS = {
    "float32": ("resnet50", {}),
    "bf16": ("resnet50", {"precision": "bf16"}),
    "max pooling": ("resnet18", {"pooling": "average+max", "clip_value": 10.0}),
    "micro batches": ("resnet18", {"micro_batch_size": 12}),
    "frozen features": ("resnet18", {"mode": "frozen_features"}),
    "sgd": ("resnet18", {"optimiser": "sgd"}),
    "rmsprop": ("resnet18", {"optimiser": "rmsprop", "learning_rate": 1e-5}),
    "compiled": ("resnet18", {"compile": True}),
}


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # torch's, of its own modules
@pytest.mark.filterwarnings("ignore:TensorFloat32 tensor cores:UserWarning")  # float32 is meant
@pytest.mark.parametrize("name", TRIALS)
def test_a_large_network_interrupted_anywhere_trains_to_the_same_bits(cache_folder, name):
    backbone, training = TRIALS[name]
    settings = large_trial(cache_folder, backbone, **training)
    states = []
    undisturbed = untimed(run_trial(settings, save=states.append))
    assert untimed(run_trial(settings)) == undisturbed
    for state in states[:-1]:
        assert untimed(run_trial(settings, resume=state)) == undisturbed


@pytest.mark.parametrize("loss", ["margin", "proxy_gml", "smooth_ap", "soft_triple", "chopra"])
def test_a_trial_over_folds_interrupted_anywhere_ends_with_the_same_bits(cache_folder, loss):
    settings = two_folds(cache_folder, loss=loss)
    states = []
    undisturbed = untimed(run_trial(settings, save=states.append))
    for state in states:
        assert untimed(run_trial(settings, resume=state)) == undisturbed


def test_the_peak_of_a_trial_is_not_that_of_the_one_before():
    reset_peak_memory(CUDA)
    start = peak_memory_mb(CUDA)
    large = torch.empty(2**28, dtype=torch.uint8, device=CUDA)
    assert peak_memory_mb(CUDA) >= start + 256
    del large
    reset_peak_memory(CUDA)
    assert peak_memory_mb(CUDA) <= start
