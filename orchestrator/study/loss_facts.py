"""Facts of the loss that a study names: single, external, summed, pretrained or with a memory.

Losses with a module in search_spaces are known without torch: what they declare is joined with
what is searched of them. Others (of another library, or without such a module) are looked up in
the code itself, and so are losses with a memory.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from orchestrator.study.composed_facts import (
    SPACE_NAMES,
    LossFacts,
    pretrained,
    summed,
    with_memory,
)
from orchestrator.study.training_parameters import TRAINING_PARAMETERS
from search_spaces.catalogue import loss_names, loss_spaces
from search_spaces.parameters import Choice, Every, Int, Real, Space
from trainables.errors import TrialInputError, unknown_name
from trainables.loss_files import version_of
from trainables.registry import literals, names
from trainables.settings.legal_ranges import DECLARATIONS, OneOf, Parameter
from trainables.settings.loss_expression import LossExpression, LossTerm, parse_loss


def facts_of(loss: str) -> LossFacts:
    """Facts of a loss by its name in a study; see `trainables.settings.loss_expression`.

    Raises:
        TrialInputError: a name in it is unknown, a file was not read (`trainables.loss_files`), or
            a loss cannot be used with a memory.
    """
    return _facts_of(loss, version_of(loss))


@cache
def _facts_of(loss: str, version: str) -> LossFacts:
    """The facts; ``version`` is another where a file was read anew."""
    del version
    expression = parse_loss(loss)
    facts = {term: _term_facts(term) for term in expression.all_terms}
    if expression.is_single:
        return facts[expression.terms[0]]
    total = summed(str(expression), {term.prefix: facts[term] for term in expression.terms})
    return _pretrained(expression, facts, total)


def _pretrained(
    expression: LossExpression, facts: dict[LossTerm, LossFacts], total: LossFacts
) -> LossFacts:
    pretraining = expression.pretraining
    if pretraining is None:
        return total
    return pretrained(str(expression), (pretraining.prefix, facts[pretraining]), total)


def _term_facts(term: LossTerm) -> LossFacts:
    if not term.is_external and term.name not in (*loss_names(), *names("losses")):
        raise unknown_name("loss", term.name, names("losses"))
    if term.is_external or term.name not in loss_names():
        from orchestrator.study.external_loss_facts import facts_from_code  # loads torch

        facts = facts_from_code(term)
    else:
        facts = _joined(term.name)
    if not term.has_memory:
        return facts
    _refuse_memory_without_references(term)
    return with_memory(facts)


def _refuse_memory_without_references(term: LossTerm) -> None:
    from trainables.loss_composition.make_criterion import loss_class  # loads torch

    if not getattr(loss_class(term), "takes_references", False):
        raise TrialInputError(f"{term.name} compares within a batch only and cannot use a memory")


def _joined(name: str) -> LossFacts:
    """What the loss declares, with what is searched of it."""
    stated = literals("losses", name, calls=DECLARATIONS)
    spaces = loss_spaces(name)
    parameters: dict[str, Parameter] = stated.get("declared", {})
    if (
        "needs" not in stated
        or spaces.joint.keys() - parameters.keys() - TRAINING_PARAMETERS.keys()
    ):
        raise TrialInputError(
            f"loss {name} must state needs, and in declared all that is searched, in its own class"
            " and in literals"
        )
    return LossFacts(
        name=name,
        kind=spaces.kind,
        needs=stated["needs"],
        source=spaces.source,
        parameters=parameters,
        spaces={
            space: Space({key: _tried(tried, key, parameters) for key, tried in ranges.items()})
            for space in SPACE_NAMES
            if (ranges := getattr(spaces, space)) is not None
        },
        conditions=spaces.conditions,
        proxies_if=(spaces.proxies_if,) if spaces.proxies_if else (),
        published_training=spaces.published_training,
        family=spaces.family,
    )


def _tried(
    tried: Real | Int | Choice | Every, name: str, parameters: Mapping[str, Parameter]
) -> Real | Int | Choice:
    declared = parameters[name] if name in parameters else TRAINING_PARAMETERS[name]
    if isinstance(tried, Every):
        legal = declared.legal
        tried = Choice(legal.values if isinstance(legal, OneOf) else (False, True))
    return replace(tried, unit=declared.unit)
