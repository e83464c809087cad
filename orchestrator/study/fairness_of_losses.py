"""How the losses of a study differ beside their training: what they search, and what they are."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from orchestrator.results.records.fairness_record import Disparity, Standing
from orchestrator.search_samplers.evenly_spaced import spaced_values
from orchestrator.search_samplers.factorial import points_within, trials_needed
from orchestrator.study.configs import (
    default_config,
    given_configs,
    recipe_values,
    space_of,
    unsearched_values,
    warm_start_key,
)
from orchestrator.study.fairness_of_training import sides_of
from orchestrator.study.loss_facts import facts_of
from orchestrator.study.study import Block, Study
from search_spaces.parameters import Choice, Condition, Int, Real, Space, Value, existing
from trainables.settings.loss_expression import parse_loss

__all__ = [
    "FIRST_CONFIG",
    "NATURES",
    "SEARCHED",
    "TRIED",
    "TRY_FIRST",
    "WARM_START",
    "first_configs",
    "natures",
    "num_tried",
    "tried",
    "tried_first",
    "warm_starts",
    "widths",
]

SEARCHED = "searched_hyperparameters"
FIRST_CONFIG = "first_config"
TRIED = "tried_configs"
TRY_FIRST = "try_first"
WARM_START = "warm_start"

_Nature = Callable[[str], bool]

# Name -> whether a loss is so, and both cases in words.
NATURES: Mapping[str, tuple[_Nature, str, str]] = MappingProxyType(
    {
        "own_parameters": (
            lambda loss: "proxies" in facts_of(loss).needs,
            "some",
            "none",
        ),
        "embeddings": (
            lambda loss: "normalised" in facts_of(loss).needs,
            "of length 1",
            "of any length",
        ),
        "memory": (
            lambda loss: any(term.has_memory for term in parse_loss(loss).all_terms),
            "of earlier batches",
            "none",
        ),
        "pretraining": (
            lambda loss: parse_loss(loss).pretraining is not None,
            "by another loss first",
            "none",
        ),
        "views_of_an_image": (
            lambda loss: "several_views" in facts_of(loss).needs,
            "several",
            "one",
        ),
        "class_names": (
            lambda loss: "class_text" in facts_of(loss).needs,
            "read as vectors",
            "not read",
        ),
        "label_distances": (
            lambda loss: "label_distances" in facts_of(loss).needs,
            "read",
            "not read",
        ),
    }
)


def natures(study: Study) -> Iterator[Disparity]:
    """What follows from the losses themselves."""
    for name, (holds, yes, no) in NATURES.items():
        found = [(loss, yes if holds(loss) else no) for loss in study.losses]
        yield Disparity(name=name, area="loss", sides=sides_of(found))


def widths(study: Study) -> Iterator[Disparity]:
    """How many hyperparameters each loss searches, those of training included."""
    sizes = {loss: len(space_of(study, loss).parameters) for loss in study.losses}
    found = [(loss, str(size)) for loss, size in sorted(sizes.items(), key=lambda pair: pair[1])]
    yield Disparity(name=SEARCHED, area="space", sides=sides_of(found))


def first_configs(study: Study, block: Block) -> Disparity:
    """Where the config comes from that a search tries first, as far as it is the loss's own."""
    found = [(loss, _first_config(study, block, loss)) for loss in study.losses]
    return Disparity(name=FIRST_CONFIG, area="search", sides=sides_of(found))


def tried(study: Study, block: Block) -> Disparity:
    """How many configs the search of each loss can try; nearly always its budget."""
    found = [(loss, str(num_tried(study, block, loss))) for loss in study.losses]
    return Disparity(name=TRIED, area="space", sides=sides_of(found))


def tried_first(study: Study) -> Disparity:
    """How many configs the study file gives the search of each loss."""
    return _given({loss: len(study.try_first.get(loss, ())) for loss in study.losses}, TRY_FIRST)


def warm_starts(study: Study, block: str) -> Disparity:
    """How many configs earlier results gave the search of each loss in a block, by its label."""
    keys = {loss: warm_start_key(block, loss) for loss in study.losses}
    counts = {loss: len(study.warm_starts.get(key, ())) for loss, key in keys.items()}
    return _given(counts, WARM_START)


def _given(counts: Mapping[str, int], name: str) -> Disparity:
    """What only some losses got has to be declared; that some got more than others is noted."""
    found = [
        (loss, f"{count} configs" if count != 1 else "1 config") for loss, count in counts.items()
    ]
    standing: Standing = "noted" if all(counts.values()) else "undeclared"
    return Disparity(name=name, area="search", sides=sides_of(found), standing=standing)


def _first_config(study: Study, block: Block, loss: str) -> str:
    facts = facts_of(loss)
    given = recipe_values(study, block, loss)
    for whose, values in (("the study's", study.values.get(loss, {})), ("the recipe's", given)):
        if any(
            name in facts.parameters and value != facts.defaults.get(name)
            for name, value in values.items()
        ):
            return f"{whose} values"
    return "published defaults"


def num_tried(study: Study, block: Block, loss: str) -> int:
    """At most so many distinct configs, the default and those given first included.

    A space of lists and steps may have fewer than the budget; a grid is as fine as the budget
    allows, and rarely uses it up; one hyperparameter at a time ends with its sweeps.
    """
    trials, sampler = study.search.trials, study.search.sampler
    values = unsearched_values(study, block, loss)
    space = space_of(study, loss, values)
    conditions = facts_of(loss).conditions
    first = (default_config(study, block, loss), *given_configs(study, block, loss))
    if sampler == "coordinate":
        return min(trials, _num_swept(space, values, conditions, first, trials))
    if sampler == "grid":
        points = points_within(space, values, conditions, trials=trials, first=first)
    else:
        listed = {name: _values(tried, trials) for name, tried in space.parameters.items()}
        points = {name: found for name, found in listed.items() if found is not None}
        if len(points) < len(listed):
            return trials
    design = Space({name: Choice(found) for name, found in points.items()})
    return min(trials, trials_needed(design, values, conditions, first))


def _values(tried: Real | Int | Choice, most: int) -> tuple[Value, ...] | None:
    """Its first ``most`` values, which are enough to fill a budget; None without steps."""
    if isinstance(tried, Choice):
        return tried.values[:most]
    if isinstance(tried, Real) and tried.step is None:
        return None
    step = tried.step or 1
    number = min(most, round((tried.high - tried.low) / step) + 1)
    values = (tried.low + step * index for index in range(number))
    # 0.1 * 3 is not 0.3: what a person would write is meant.
    return tuple(it if isinstance(tried, Int) else float(f"{it:.12g}") for it in values)


def _num_swept(
    space: Space,
    values: Mapping[str, Value],
    conditions: Mapping[str, Condition],
    first: Sequence[Mapping[str, Value]],
    trials: int,
) -> int:
    """The first configs, all sweeps (`search_samplers.coordinate`), their combination."""
    default = existing(values, conditions)
    swept = {name: tried for name, tried in space.parameters.items() if name in default}
    share = max(1, (trials - 2) // max(1, len(swept)))
    found = list(first)
    moving = 0
    for name, tried in swept.items():
        others = [value for value in spaced_values(tried, share) if value != default[name]]
        moving += bool(others)
        for value in others:
            config = existing({**values, name: value}, conditions)
            if config not in found:
                found.append(config)
    return len(found) + (moving > 1)
