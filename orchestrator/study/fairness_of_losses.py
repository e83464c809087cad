"""How the losses of a study differ beside their training: searches, and properties of losses."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from podium.orchestrator.results.records.fairness_record import DeclarationStatus, Disparity
from podium.orchestrator.search_samplers.coordinate import max_configs
from podium.orchestrator.search_samplers.grid import num_configs
from podium.orchestrator.study.configs import (
    num_searched,
    recipe_values,
    search_task,
    warm_start_key,
)
from podium.orchestrator.study.fairness_of_training import group_by_value
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import Block, Study
from podium.trainables.settings.loss_expression import parse_loss

SEARCHED = "searched_hyperparameters"
FIRST_CONFIG = "first_config"
TRIED = "tried_configs"
TRY_FIRST = "try_first"
WARM_START = "warm_start"

_Property = Callable[[str], bool]


def _needs(what: str) -> _Property:
    return lambda loss: what in facts_of(loss).needs


def _has_memory(loss: str) -> bool:
    return any(term.has_memory for term in parse_loss(loss).all_terms)


def _is_pretrained(loss: str) -> bool:
    return parse_loss(loss).pretraining is not None


# Name -> whether a loss has the property, and the values shown if it has it or not.
LOSS_PROPERTIES: Mapping[str, tuple[_Property, str, str]] = MappingProxyType(
    {
        "own_parameters": (_needs("proxies"), "some", "none"),
        "embeddings": (_needs("normalised"), "of length 1", "of any length"),
        "memory": (_has_memory, "of earlier batches", "none"),
        "pretraining": (_is_pretrained, "by another loss first", "none"),
        "views_of_an_image": (_needs("several_views"), "several", "one"),
        "class_names": (_needs("class_text"), "read as vectors", "not read"),
        "label_distances": (_needs("label_distances"), "read", "not read"),
    }
)


def loss_disparities(study: Study, block: Block) -> Iterator[Disparity]:
    """What searches are given, where they begin and how much they cover, and `LOSS_PROPERTIES`.

    Searched hyperparameters include those of training. How many configs a search can try is
    mostly its whole budget.
    """
    losses = study.loss_names
    yield _given({loss.name: len(loss.try_first) for loss in study.losses}, TRY_FIRST)
    first = [(loss, _first_config(study, block, loss)) for loss in losses]
    yield Disparity(name=FIRST_CONFIG, area="search", sides=group_by_value(first))
    sizes = sorted(((loss, num_searched(study, loss)) for loss in losses), key=lambda it: it[1])
    searched = [(loss, str(size)) for loss, size in sizes]
    yield Disparity(name=SEARCHED, area="space", sides=group_by_value(searched))
    tried = [(loss, str(num_tried_configs(study, block, loss))) for loss in losses]
    yield Disparity(name=TRIED, area="space", sides=group_by_value(tried))
    for name, (holds, yes, no) in LOSS_PROPERTIES.items():
        found = [(loss, yes if holds(loss) else no) for loss in losses]
        yield Disparity(name=name, area="loss", sides=group_by_value(found))


def warm_start_disparity(study: Study, block: str) -> Disparity:
    """How many configs earlier results gave the search of each loss in a block, by its label."""
    keys = {loss: warm_start_key(block, loss) for loss in study.loss_names}
    counts = {loss: len(study.warm_starts.get(key, ())) for loss, key in keys.items()}
    return _given(counts, WARM_START)


def num_tried_configs(study: Study, block: Block, loss: str) -> int:
    """Upper bound on distinct configs of a search, default and given configs included.

    A space of lists and steps may have fewer than the budget; one hyperparameter at a time ends
    with its sweeps.
    """
    task = search_task(study, block, loss)
    count = max_configs if study.search.sampler == "coordinate" else num_configs
    found = count(task, task.trials)
    return task.trials if found is None else min(task.trials, found)


def _given(counts: Mapping[str, int], name: str) -> Disparity:
    """Undeclared if some losses got no config; only noted if some got more than others."""
    found = [
        (loss, f"{count} configs" if count != 1 else "1 config") for loss, count in counts.items()
    ]
    standing: DeclarationStatus = "noted" if all(counts.values()) else "undeclared"
    return Disparity(name=name, area="search", sides=group_by_value(found), standing=standing)


def _first_config(study: Study, block: Block, loss: str) -> str:
    facts = facts_of(loss)
    given = recipe_values(study, block, loss)
    for whose, values in (("the study's", study.loss(loss).values), ("the recipe's", given)):
        if any(
            name in facts.parameters and value != facts.defaults.get(name)
            for name, value in values.items()
        ):
            return f"{whose} values"
    return "published defaults"
