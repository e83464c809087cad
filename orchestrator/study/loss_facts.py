"""Facts of the loss that a study names: single, external, summed, pretrained or with a memory.

Losses in `trainables.losses` are known without torch: what they declare is joined with what is
searched of them. Those of another library are looked up in the code itself, and so are losses with
a memory.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from podium.orchestrator.study.composed_facts import (
    LossFacts,
    composed,
    declared_space,
    with_memory,
)
from podium.orchestrator.study.training_parameters import TRAINING_PARAMETERS
from podium.search_spaces.conditions import CONDITIONS, PROXIES_IF
from podium.search_spaces.families import FAMILIES
from podium.search_spaces.named_spaces import NAMED_SPACES
from podium.search_spaces.parameters import Choice, Every, Int, Ranges, Real, Space
from podium.search_spaces.training_parameters import PUBLISHED_TRAINING
from podium.trainables.errors import TrialInputError
from podium.trainables.loss_files import version_of
from podium.trainables.registry import literals
from podium.trainables.settings.legal_ranges import DECLARATIONS, OneOf, Parameter
from podium.trainables.settings.loss_expression import LossTerm, parse_loss


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
    return facts[expression.terms[0]] if expression.is_single else composed(expression, facts)


def _term_facts(term: LossTerm) -> LossFacts:
    if term.is_external:
        from podium.orchestrator.study.external_loss_facts import facts_from_code  # loads torch

        facts = facts_from_code(term)
    else:
        facts = _joined(term.name)
    if not term.has_memory:
        return facts
    from podium.trainables.loss_composition.make_criterion import loss_class  # loads torch

    if not getattr(loss_class(term), "takes_references", False):
        raise TrialInputError(f"{term.name} compares within a batch only and cannot use a memory")
    return with_memory(facts)


def _joined(name: str) -> LossFacts:
    """What the loss declares, with what is searched of it."""
    stated = literals("losses", name, calls=DECLARATIONS)
    parameters: dict[str, Parameter] = stated.get("declared", {})
    declared = declared_space(name, stated.get("search_space", {}), parameters)
    rows = {space: losses[name] for space, losses in NAMED_SPACES.items() if name in losses}
    searched: dict[str, Ranges] = {"joint": declared.parameters, **rows}
    if (
        not {"kind", "source", "needs"} <= stated.keys()
        or searched["joint"].keys() - parameters.keys() - TRAINING_PARAMETERS.keys()
    ):
        raise TrialInputError(
            f"loss {name} must state kind, source and needs, and in declared all that is searched,"
            " in its own class and in literals"
        )
    family = next((family for family, losses in FAMILIES.items() if name in losses), None)
    return LossFacts(
        name=name,
        kind=stated["kind"],
        needs=stated["needs"],
        source=stated["source"],
        parameters=parameters,
        spaces={
            space: Space({key: _tried(tried, key, parameters) for key, tried in ranges.items()})
            for space, ranges in searched.items()
        },
        conditions=CONDITIONS.get(name, {}),
        proxies_if=(PROXIES_IF[name],) if name in PROXIES_IF else (),
        published_training=PUBLISHED_TRAINING.get(name, {}),
        family=family,
        differs=FAMILIES[family][name] if family else None,
    )


def _tried(
    tried: Real | Int | Choice | Every, name: str, parameters: Mapping[str, Parameter]
) -> Real | Int | Choice:
    declared = parameters[name] if name in parameters else TRAINING_PARAMETERS[name]
    if isinstance(tried, Every):
        legal = declared.legal
        tried = Choice(legal.values if isinstance(legal, OneOf) else (False, True))
    return replace(tried, unit=declared.unit)
