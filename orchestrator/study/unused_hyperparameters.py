"""Hyperparameters that a person sets and no trial would heed."""

from collections.abc import Iterable, Mapping

from orchestrator.study.loss_facts import facts_of
from search_spaces.parameters import Value
from search_spaces.training_parameters import PROXY_PARAMETERS
from trainables.settings.loss_expression import parse_loss

__all__ = ["never_reached", "waits", "why_unheeded", "why_without_proxies"]

# Hyperparameters that wait for an epoch, and how many epochs there must be beyond it.
_LEFT_OVER = {"memory_start_epoch": 0, "pretraining_epochs": 1}


def why_unheeded(loss: str, name: str, configs: Iterable[Mapping[str, Value]]) -> str | None:
    """Why a hyperparameter of ``loss`` changes nothing, in words; None if it changes something.

    Args:
        loss: as a study names it.
        name: of the hyperparameter.
        configs: with all others; it is enough if the hyperparameter counts in one of them.
    """
    if name in PROXY_PARAMETERS and (reason := why_without_proxies(loss)):
        return f"changes nothing: {reason}"
    condition = facts_of(loss).conditions.get(name)
    if condition is not None and not any(condition.holds(config) for config in configs):
        return f"changes nothing: it exists only if {condition}"
    return None


def why_without_proxies(loss: str) -> str | None:
    """Why a loss does not heed `PROXY_PARAMETERS`, in words; None if it does.

    A loss of another library may train parameters without a word in its constructor.
    """
    if any(term.is_foreign for term in parse_loss(loss).all_terms):
        return None
    return None if "proxies" in facts_of(loss).needs else f"{loss} has no proxies"


def waits(name: str) -> bool:
    """Whether a hyperparameter says for which epoch a memory or a main loss waits."""
    return name.rpartition(".")[2] in _LEFT_OVER


def never_reached(name: str, earliest: Value, epochs: int) -> str | None:
    """The rule on a memory or a main loss that training does not come to; None if it does.

    Args:
        name: of a hyperparameter that waits.
        earliest: its smallest value.
        epochs: of the training.
    """
    last = epochs - _LEFT_OVER[name.rpartition(".")[2]]
    if float(earliest) <= last:
        return None
    return (
        f"{name} must be at most {last}, since training.epochs is {epochs}: what comes after it "
        "would never train"
    )
