"""Hyperparameters that a person sets and no trial would heed."""

from collections.abc import Iterable, Mapping

from orchestrator.loss_facts import facts_of
from search_spaces.params import Value
from trainables.loss_expression import parse_loss

__all__ = ["why_unheeded"]

_OF_PROXIES = "proxy_learning_rate"


def why_unheeded(loss: str, name: str, configs: Iterable[Mapping[str, Value]]) -> str | None:
    """Why a hyperparameter of ``loss`` changes nothing, in words; None if it changes something.

    Args:
        loss: as a study names it.
        name: of the hyperparameter.
        configs: with all others; it is enough if the hyperparameter counts in one of them.
    """
    facts = facts_of(loss)
    # A loss of another library may train parameters without a word in its constructor.
    is_known = not any(term.is_foreign for term in parse_loss(loss).all_terms)
    if name == _OF_PROXIES and is_known and "proxies" not in facts.needs:
        return f"changes nothing: {loss} has no proxies"
    condition = facts.conditions.get(name)
    if condition is not None and not any(condition.holds(config) for config in configs):
        return f"changes nothing: it exists only if {condition}"
    return None
