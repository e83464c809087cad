"""The optimiser of a trial, and the proof that it trains everything it should."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from torch import nn
from torch.nn.utils import clip_grad_value_
from torch.optim import SGD, Adam, AdamW, Optimizer, RMSprop

from podium.trainables.network.embedder import Embedder
from podium.trainables.network.fine_tuning import layer_groups
from podium.trainables.settings.training_settings import UNSET, TrainingSettings
from podium.trainables.training_loop.learning_rates import EMBEDDING, LOSS, NETWORK, learning_rates

_GROUP = "name"  # of a parameter group, so that a schedule finds it


def make_optimiser(
    embedder: Embedder, criterion: nn.Module, training: TrainingSettings
) -> Optimizer:
    """An optimiser over backbone, embedding layer and what the loss trains: a group each.

    Each has its learning rate and decay; the backbone has a group a layer where rates decay from
    layer to layer. The order of the groups and of their parameters is that of the modules, so
    that an optimiser's state fits one made anew. A part without parameters makes no group.
    """
    head = {id(weight) for weight in embedder.embedding.parameters()}
    groups = [
        {_GROUP: name, "params": weights, "weight_decay": decay}
        for name, weights, decay in (
            (
                NETWORK,
                [weight for weight in embedder.parameters() if id(weight) not in head],
                training.weight_decay,
            ),
            (EMBEDDING, list(embedder.embedding.parameters()), training.weight_decay),
            (LOSS, list(criterion.parameters()), training.proxy_weight_decay),
        )
        if weights
    ]
    if training.layer_decay != UNSET["layer_decay"]:
        layers = layer_groups(embedder.backbone, training)
        groups[:1] = [{_GROUP: NETWORK, **layer} for layer in layers]
    optimiser = _optimiser(groups, training)
    set_learning_rates(optimiser, training, epoch=1)
    assert_owned_once(optimiser, network=embedder, criterion=criterion)
    return optimiser


def _optimiser(groups: list[dict[str, Any]], training: TrainingSettings) -> Optimizer:
    """One kernel for all parameters, where torch has that."""
    if training.optimiser == "adamw":
        return AdamW(groups, eps=training.adam_epsilon, fused=True)
    if training.optimiser == "adam":
        return Adam(groups, eps=training.adam_epsilon, fused=True)
    if training.optimiser == "rmsprop":
        return RMSprop(groups, momentum=training.momentum, foreach=True)
    return SGD(groups, momentum=training.momentum, fused=True)


def set_learning_rates(optimiser: Optimizer, training: TrainingSettings, epoch: int) -> None:
    """Give each group the learning rate it has in an epoch."""
    rates = learning_rates(training, epoch)
    for group in optimiser.param_groups:
        group["lr"] = rates[group[_GROUP]] * group.get("lr_scale", 1.0)


def clip_gradients(
    network: Iterable[nn.Parameter], loss: Iterable[nn.Parameter], training: TrainingSettings
) -> None:
    """Bring each number of the gradients that the recipe clips into its bounds."""
    if training.clip_value == 0.0:
        return
    if training.clipped != "loss":
        _clip(network, training.clip_value)
    if training.clipped != "network":
        _clip(loss, training.clip_value)


def _clip(parameters: Iterable[nn.Parameter], bound: float) -> None:
    trained = [weight for weight in parameters if weight.grad is not None]
    if trained:  # most losses have no parameters, and torch refuses to clip nothing
        clip_grad_value_(trained, bound)


def assert_owned_once(optimiser: Optimizer, **modules: nn.Module) -> None:
    """Check that the optimiser has every trainable parameter of ``modules`` exactly once.

    A proxy that no optimiser moves stays at its random start and nothing else tells: the error
    behind several published results (see Kim et al.'s Proxy-Anchor repository, issue 25).

    Raises:
        AssertionError: names the parameters.
    """
    owned = Counter(id(weight) for group in optimiser.param_groups for weight in group["params"])
    wrong = [
        f"{module}.{name} ({owned[id(weight)]} times)"
        for module, content in modules.items()
        for name, weight in content.named_parameters()
        if weight.requires_grad and owned[id(weight)] != 1
    ]
    if wrong:
        raise AssertionError(f"the optimiser must own each parameter once: {', '.join(wrong)}")
