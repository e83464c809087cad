"""What is equal between the competitors of a study, and what is not. Pure: reads no results.

Competitors are the losses within a block. What affects a comparison beside the loss itself is
either equal by construction or a `Disparity`; one that the study file causes has to be declared
in it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace

from podium.errors import StudyError
from podium.orchestrator.results.records.fairness_record import (
    Area,
    DeclarationStatus,
    Disparity,
    Fairness,
    Side,
    summarise_differences,
)
from podium.orchestrator.search_samplers.coordinate import max_configs
from podium.orchestrator.search_samplers.grid import num_configs
from podium.orchestrator.study.blocks import blocks, has_time_limit, trials_per_search
from podium.orchestrator.study.configs import (
    num_searched,
    recipe_values,
    search_task,
    warm_start_key,
)
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import Block, Study
from podium.orchestrator.study.unused_settings import TrainedLoss
from podium.search_spaces.parameters import Choice, Int, Real, Value
from podium.trainables.recipes import reasons_of
from podium.trainables.settings.loss_expression import parse_loss
from podium.trainables.settings.training_settings import TRAINING_TYPES

SEARCHED = "searched_hyperparameters"
WARM_START = "warm_start"

# Name -> trait of a loss, and the values shown if it has it or not.
LOSS_PROPERTIES: Mapping[str, tuple[str, str, str]] = {
    "own_parameters": ("proxies", "some", "none"),
    "embeddings": ("normalised", "of length 1", "of any length"),
    "memory": ("memory", "of earlier batches", "none"),
    "pretraining": ("pretraining", "by another loss first", "none"),
    "views_of_an_image": ("several_views", "several", "one"),
    "class_names": ("class_text", "read as vectors", "not read"),
    "label_distances": ("label_distances", "read", "not read"),
}

_AREAS: Mapping[str, Area] = {
    WARM_START: "search",
    "first_config": "search",
    SEARCHED: "space",
    "tried_configs": "space",
    **dict.fromkeys(LOSS_PROPERTIES, "loss"),
}

DECLARABLE = (*TRAINING_TYPES, *_AREAS)
"""Names of all that competitors can differ in; keys of ``declared_differences``."""


def fairness(study: Study) -> Fairness:
    """What the competitors of the study share and in what they differ.

    Raises:
        TrialInputError: a data set, network or loss is unknown.
    """
    found = _compared(study)
    return Fairness(
        equal=_equal(study), settings=_equal_settings(found), disparities=_unequal(found)
    )


def report_differences(study: Study, say: Callable[[str], object]) -> None:
    """Say in one line in what the losses differ, after configs of earlier results were found.

    Raises:
        StudyError: the losses differ in something that the study file should declare.
    """
    found = disparities(study)
    if rules := undeclared(found):
        raise StudyError([f"study {study.name}: {rule}" for rule in rules.values()])
    if summary := summarise_differences(found):
        say(f"Not equal between the losses: {summary}. See podium plan for details.")


def undeclared(found: Iterable[Disparity]) -> dict[str, str]:
    """Undeclared difference -> message with losses, values and the line to add."""
    where: dict[str, list[str]] = {}
    for item in found:
        if item.standing == "undeclared":
            where.setdefault(item.name, []).append(f"{item.values} {item.where}".rstrip())
    return {
        name: f"the losses differ in {name} ({'; '.join(places)}): make it the "
        "same for all, or say why it is not in a line of its own: "
        f'declared_differences: {{{name}: "..."}}'
        for name, places in where.items()
    }


def disparities(study: Study) -> tuple[Disparity, ...]:
    """All differences between the losses, training settings first.

    Raises:
        TrialInputError: a data set, network or loss is unknown.
    """
    return _unequal(_compared(study))


def _unequal(compared: Mapping[Disparity, Sequence[str]]) -> tuple[Disparity, ...]:
    num_blocks = len({label for labels in compared.values() for label in labels})
    order = {name: rank for rank, name in enumerate(DECLARABLE)}
    return tuple(
        replace(item, blocks=() if len(labels) == num_blocks else tuple(labels))
        for item, labels in sorted(compared.items(), key=lambda pair: order[pair[0].name])
        if len(item.sides) > 1
    )


def _compared(study: Study) -> dict[Disparity, list[str]]:
    """Everything that losses could differ in -> labels of the blocks where it is so.

    It has one side if all losses that use it share its value, none if no loss uses it.
    """
    found: dict[Disparity, list[str]] = {}
    for block, labels in _representatives(study).items():
        facts = {loss: _facts(study, block, loss) for loss in study.loss_names}
        for name in DECLARABLE:
            told = [(loss, values[name]) for loss, values in facts.items() if name in values]
            if name == SEARCHED:
                told.sort(key=lambda pair: int(pair[1]))
            standing = _standing(study, block, [loss for loss, _ in told], name)
            item = _disparity(study, name, told, standing)
            found.setdefault(item, []).extend(labels)
        for label in labels:
            keys = {loss: warm_start_key(label, loss) for loss in study.loss_names}
            counts = {loss: len(study.warm_starts.get(key, ())) for loss, key in keys.items()}
            told = [
                (loss, f"{count} config{'s' if count != 1 else ''}")
                for loss, count in counts.items()
            ]
            # Only noted if some losses got more than others.
            is_noted = all(counts.values())
            item = _disparity(study, WARM_START, told, "noted" if is_noted else "undeclared")
            found.setdefault(item, []).append(label)
    return found


def _disparity(
    study: Study, name: str, told: Sequence[tuple[str, str]], standing: DeclarationStatus
) -> Disparity:
    reason = reasons_of(study.training.recipe).get(name, "") if standing == "recipe" else ""
    if name in study.declared_differences:
        standing, reason = "declared", study.declared_differences[name]
    area = _AREAS.get(name, "training")
    sides = _group_by_value(told)
    return Disparity(name=name, area=area, sides=sides, standing=standing, reason=reason)


def _representatives(study: Study) -> dict[Block, tuple[str, ...]]:
    """First block of each data set and backbone -> labels of all of them, trained alike."""
    labels: dict[tuple[str, str], list[Block]] = {}
    for block in blocks(study):
        labels.setdefault((block.dataset, block.backbone), []).append(block)
    return {items[0]: tuple(item.label for item in items) for items in labels.values()}


def _equal(study: Study) -> dict[str, str]:
    """What all losses of a block share by construction."""
    search, stopping = study.search, study.search.early_stopping.kind
    number = study.final.seeds
    seeds = "one fresh seed" if number == 1 else f"{number} fresh seeds"
    shares = ", or an equal share of a budget of hours" if has_time_limit(study.budget) else ""
    return {
        "block": "backbone, weights, embedding dimension, image size",
        "searches": f"{trials_per_search(study)} trials{shares} by {search.sampler}, early "
        f"stopping {stopping}, one seed",
        "validation": "the same splits of the classes",
        "finals": f"{seeds}, the same folds",
    }


def _equal_settings(compared: Iterable[Disparity]) -> dict[str, str]:
    """Training settings that all losses of a block share, of those that any loss uses."""
    values: dict[str, list[str]] = {}
    of_training = [item for item in compared if item.area == "training"]
    unequal = {item.name for item in of_training if len(item.sides) > 1}
    for item in of_training:
        if item.sides and item.name not in unequal:
            values.setdefault(item.name, []).append(item.sides[0].value)
    different = {name: list(dict.fromkeys(found)) for name, found in values.items()}
    return {
        name: found[0] if len(found) == 1 else f"by block: {', '.join(found)}"
        for name, found in different.items()
    }


def _facts(study: Study, block: Block, loss: str) -> dict[str, str]:
    """What `DECLARABLE` names of a loss in a block, as texts that are equal iff the facts are.

    Searched hyperparameters include those of training. How many configs a search can try is
    mostly its whole budget.
    """
    parsed = parse_loss(loss)
    traits = {
        *facts_of(loss).needs,
        *(["memory"] if any(term.has_memory for term in parsed.all_terms) else []),
        *(["pretraining"] if parsed.pretraining else []),
    }
    return {
        **_settings(study, block, loss),
        "first_config": _first_config(study, block, loss),
        SEARCHED: str(num_searched(study, loss)),
        "tried_configs": str(num_tried_configs(study, block, loss)),
        **{
            name: yes if trait in traits else no
            for name, (trait, yes, no) in LOSS_PROPERTIES.items()
        },
    }


def num_tried_configs(study: Study, block: Block, loss: str) -> int:
    """Upper bound on distinct configs of a search, default and given configs included.

    A space of lists and steps may have fewer than the budget; one hyperparameter at a time ends
    with its sweeps.
    """
    trials = study.search.trials
    found = count_configs(study, block, loss, trials)
    return trials if found is None else min(trials, found)


def count_configs(study: Study, block: Block, loss: str, most: int) -> int | None:
    """Number of configs that a search of lists and steps could try; None if it has ranges."""
    count = max_configs if study.search.sampler == "coordinate" else num_configs
    return count(search_task(study, block, loss), most)


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


def _group_by_value(found: Sequence[tuple[str, str]]) -> tuple[Side, ...]:
    """Group (competitor, value) pairs by value, in order of first appearance."""
    by_value: dict[str, list[str]] = {}
    for competitor, value in found:
        by_value.setdefault(value, []).append(competitor)
    return tuple(Side(value=value, competitors=tuple(it)) for value, it in by_value.items())


def _standing(study: Study, block: Block, losses: Sequence[str], name: str) -> DeclarationStatus:
    """What gives any of these losses a value or range of its own: study file, recipe or space."""
    if name in _AREAS:
        return "noted"
    stated = [study.loss(loss) for loss in losses]
    if any(name in loss.values or name in loss.own_parameters for loss in stated):
        return "undeclared"
    if any(name in recipe_values(study, block, loss) for loss in losses):
        return "recipe"
    return "noted"


def _settings(study: Study, block: Block, loss: str) -> dict[str, str]:
    """Training settings that this loss uses, as texts that are equal iff the settings are."""
    item = TrainedLoss(study, block, loss)
    return {
        name: _setting_text(value, item.space.parameters, name)
        for name, value in asdict(item.training).items()
        if name in TRAINING_TYPES and name not in item.unused
    }


def _setting_text(value: Value, searched: Mapping[str, Real | Int | Choice], name: str) -> str:
    if name not in searched:
        return _text(value)
    return f"searched {_range_text(searched[name])}, first {_text(value)}"


def _range_text(tried: Real | Int | Choice) -> str:
    if isinstance(tried, Choice):
        return f"among {', '.join(map(_text, tried.values))}"
    how = " (logarithmic)" if tried.log else ""
    steps = f" in steps of {_text(tried.step)}" if tried.step else ""
    return f"from {_text(tried.low)} to {_text(tried.high)}{steps}{how}"


def _text(value: Value) -> str:
    """The value as text; a float in six digits if that is exact."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, float):
        return str(value)
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
