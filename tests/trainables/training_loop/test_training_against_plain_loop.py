"""The trainer against the field's training loop, written out as published code has it.

The loop below is that of the Proxy-Anchor authors' train.py in plain torch: a warm-up by
requires_grad, StepLR after each epoch, BatchNorm put into its evaluation mode at the start of
each, clipping of each number, an evaluation after each epoch. Float64, so that what differs is a
rule and not a rounding that AdamW blows up.
"""

import copy
from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.nn import functional

from podium.trainables.batches.image_batches import ResidentBatches
from podium.trainables.batches.labelled_images import LabelledImages
from podium.trainables.loss_composition.make_criterion import make_criterion
from podium.trainables.network.network import Network
from podium.trainables.recipes import training_for
from podium.trainables.registry import load
from podium.trainables.reproducibility import derive_seed, reproducible
from podium.trainables.training_loop.trainer import Trainer
from tests.trainables.tiny_networks import CPU, tiny_embedder

EPOCHS = 4
SEED = 11
CLASSES, EACH = 5, 8
LABELS = torch.arange(CLASSES).repeat_interleave(EACH)
IMAGES = torch.randint(
    0, 256, (len(LABELS), 3, 6, 6), generator=torch.Generator().manual_seed(1), dtype=torch.uint8
)


def of(recipe, dataset="cub200", backbone="bn_inception", **changes):
    """A recipe's optimiser and schedule at the size of these images, all within four epochs."""
    small = {
        "epochs": EPOCHS,
        "batch_size": 16,
        "samples_per_class": 4,
        "sampler": "balanced",
        "augmentation": "none",
    }
    training = training_for(recipe, dataset=dataset, backbone=backbone)
    return replace(training, **{**small, **changes})


CASES = {
    "psomas2020": of("psomas2020", warm_up_epochs=2, step_epochs=1, learning_rate=1e-2),
    "thesis, clipped": of("psomas2020", clip_value=1e-3, step_epochs=3),
    "thesis, network clipped": of("psomas2020", clip_value=1e-3, clipped="network"),
    "thesis, loss clipped": of("psomas2020", clip_value=1e-3, clipped="loss"),
    "thesis, head": of("psomas2020", head_learning_rate_factor=30.0, weight_decay=0.5),
    "thesis on sop": of("psomas2020", dataset="sop", step_epochs=2),
    "affine frozen": of("psomas2020", batch_norm="frozen", warm_up_epochs=1, step_epochs=2),
    "affine frozen, no warm-up": of("psomas2020", batch_norm="frozen", warm_up_epochs=0),
    "warm-up of all epochs": of("psomas2020", batch_norm="train", warm_up_epochs=9),
    "proxy-anchor": of("proxy_anchor_paper", step_epochs=2, proxy_weight_decay=0.3),
    "proxy-gml": of("proxy_gml_paper", step_epochs=2, weight_decay=0.1),
    "log-ratio": of("log_ratio_paper", step_epochs=3, step_factor=0.25),
    "reality check": of("reality_check", learning_rate=1e-4, step_epochs=2),
    "gradml": of("gradml_paper", learning_rate=1e-3, warm_up_epochs=1),
    "random batches": of("psomas2020", sampler="random", batch_size=15),
}


def proxy_anchor(embeddings, labels, proxies):
    cosines = functional.normalize(embeddings) @ functional.normalize(proxies).T
    positive = functional.one_hot(labels, len(proxies)).bool()
    pulls = torch.where(positive, torch.exp(-32.0 * (cosines - 0.1)), 0.0).sum(0)
    pushes = torch.where(positive, 0.0, torch.exp(32.0 * (cosines + 0.1))).sum(0)
    return torch.log1p(pulls).sum() / len(labels.unique()) + torch.log1p(pushes).mean()


def optimiser_of(groups, training):
    common = {"lr": training.learning_rate, "weight_decay": training.weight_decay}
    if training.optimiser == "sgd":
        return torch.optim.SGD(groups, momentum=training.momentum, foreach=False, **common)
    if training.optimiser == "rmsprop":
        return torch.optim.RMSprop(groups, momentum=training.momentum, foreach=False, **common)
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[training.optimiser]
    return kind(groups, eps=training.adam_epsilon, foreach=False, **common)


def groups_of(model, proxies, training):
    rate = training.learning_rate
    return [
        {"params": list(model.backbone.parameters())},
        {
            "params": list(model.embedding.parameters()),
            "lr": rate * training.head_learning_rate_factor,
        },
        {
            "params": [proxies],
            "lr": training.proxy_learning_rate,
            "weight_decay": training.proxy_weight_decay,
        },
    ]


def start_epoch(model, training, epoch):
    """Epochs count from 0, as there."""
    rest = list(model.backbone.parameters())
    model.train()
    if training.warm_up_epochs > 0 and epoch == 0:
        for weight in rest:
            weight.requires_grad = False
    if epoch == training.warm_up_epochs:
        for weight in rest:
            weight.requires_grad = True
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    for norm in norms if training.batch_norm != "train" else ():
        norm.eval()
        if training.batch_norm == "frozen":  # not published: their warm-up undoes it
            norm.weight.requires_grad = norm.bias.requires_grad = False


def plain_loop(model, proxies, training):
    """The state after each epoch: every parameter and buffer of the model, and the proxies."""
    optimiser = optimiser_of(groups_of(model, proxies, training), training)
    scheduler = torch.optim.lr_scheduler.StepLR(
        optimiser, training.step_epochs or 10**6, training.step_factor
    )
    batches = load("batch_samplers", training.sampler)(
        LABELS.numpy(),
        training.batch_size,
        training.samples_per_class,
        derive_seed(SEED, "batches"),
    )
    states = []
    for epoch in range(training.epochs):
        start_epoch(model, training, epoch)
        for indices in batches.epoch(epoch + 1):
            loss = proxy_anchor(model(IMAGES[indices]), LABELS[indices], proxies)
            optimiser.zero_grad()
            loss.backward()
            if training.clip_value and training.clipped != "loss":
                nn.utils.clip_grad_value_(model.parameters(), training.clip_value)
            if training.clip_value and training.clipped != "network":
                nn.utils.clip_grad_value_([proxies], training.clip_value)
            optimiser.step()
        scheduler.step()
        model.eval()
        with torch.no_grad():
            model(IMAGES)
        states.append(copy.deepcopy({**model.state_dict(), "proxies": proxies.detach()}))
    return states


def by_trainer(model, proxies, training):
    network = Network(model, training, CPU)
    criterion = make_criterion("proxy_anchor", {"margin": 0.1, "alpha": 32.0})
    batches = ResidentBatches(IMAGES, is_shifted=False)
    # Ids as of a data set: neither from 0 nor without gaps.
    images = LabelledImages(
        batches=batches, labels_N=LABELS * 7 + 3, indices_N=torch.arange(len(LABELS))
    )
    trainer = Trainer(network, criterion, images, training, SEED)
    criterion.double()
    assert criterion.proxies.shape == proxies.shape
    with torch.no_grad():
        criterion.proxies.copy_(proxies)
    states = []
    for epoch in range(1, training.epochs + 1):
        trainer.train(0, epoch)
        network.eval()
        with torch.no_grad():
            network(IMAGES)
        states.append(copy.deepcopy({**model.state_dict(), "proxies": criterion.proxies.detach()}))
    return states


def with_statistics(training):
    """A model whose BatchNorm came with statistics, scale and shift, and proxies."""
    model = tiny_embedder(training).double()
    generator = torch.Generator().manual_seed(2)
    norm = model.backbone.norm
    with torch.no_grad():
        for value in (norm.weight, norm.bias, norm.running_mean, norm.running_var):
            value.copy_(0.5 + torch.rand(8, generator=generator))
    proxies = torch.randn(CLASSES, 4, generator=generator, dtype=torch.float64)
    return model, proxies


@pytest.mark.filterwarnings("ignore:the backbone never trains")
@pytest.mark.parametrize("name", CASES)
def test_each_epoch_leaves_every_number_where_the_published_loop_does(name):
    training = CASES[name]
    model, proxies = with_statistics(training)
    start = copy.deepcopy(model.state_dict())
    with reproducible(1, num_threads=1):
        expected = plain_loop(copy.deepcopy(model), nn.Parameter(proxies.clone()), training)
        found = by_trainer(model, proxies, training)
    for epoch, (these, those) in enumerate(zip(found, expected, strict=True), start=1):
        assert set(these) == set(those)
        for key, value in those.items():
            torch.testing.assert_close(
                these[key],
                value,
                rtol=1e-7,
                atol=1e-8,
                msg=lambda said, at=(epoch, key): f"{at}: {said}",
            )
    # The loop says something: what shall move moves, in the epoch in which it shall.
    weight = "backbone.convolution.weight"
    has_moved = [not torch.equal(state[weight], start[weight]) for state in expected]
    assert has_moved == [epoch > training.warm_up_epochs for epoch in range(1, EPOCHS + 1)]
    assert not any(torch.equal(state["proxies"], proxies) for state in expected)
