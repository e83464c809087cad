"""The optimiser of a trial, and the proof that it trains everything it should."""

from collections import Counter

from torch import nn
from torch.optim import AdamW, Optimizer

from trainables.settings import TrainingSettings

__all__ = ["assert_owned_once", "make_optimiser"]

# A loss normalises its proxies, so decay would only change how far a step turns them.
_CRITERION_WEIGHT_DECAY = 0.0


def make_optimiser(network: nn.Module, criterion: nn.Module, training: TrainingSettings) -> AdamW:
    """AdamW over the network and what the loss trains, each with its learning rate and decay.

    The order of the groups and of their parameters is that of the modules, so that an optimiser's
    state fits one made anew.
    """
    groups = [
        {
            "params": list(network.parameters()),
            "lr": training.learning_rate,
            "weight_decay": training.weight_decay,
        },
        {
            "params": list(criterion.parameters()),
            "lr": training.proxy_learning_rate,
            "weight_decay": _CRITERION_WEIGHT_DECAY,
        },
    ]
    optimiser = AdamW([group for group in groups if group["params"]], fused=True)
    assert_owned_once(optimiser, network=network, criterion=criterion)
    return optimiser


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
