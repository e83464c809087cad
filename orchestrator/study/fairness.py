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
from podium.trainables.tasks import geometry_of

SEARCHED = "searched_hyperparameters"
WARM_START = "warm_start"
RETRIEVAL = "retrieved_by"

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
    **dict.fromkeys((*LOSS_PROPERTIES, RETRIEVAL), "loss"),
}

DECLARABLE = (*TRAINING_TYPES, *_AREAS)
"""Names of all that competitors can differ in; keys of ``declared_differences``."""


def fairness(study: Study) -> Fairness:
    """What the competitors of the study share and in what they differ, training settings first.

    Raises:
        TrialInputError: a data set, network or loss is unknown.
    """
    found = _compared(study)
    unequal = [item for item in found if len(item.sides) > 1]
    unequal.sort(key=lambda item: DECLARABLE.index(item.name))
    names = {item.name for item in unequal}
    shared: dict[str, dict[str, None]] = {}
    for item in found:
        if item.area == "training" and item.sides and item.name not in names:
            shared.setdefault(item.name, {})[item.sides[0].value] = None
    everywhere = len(blocks(study))
    return Fairness(
        equal=_equal(study),
        settings={
            name: f"{'by block: ' if len(values) > 1 else ''}{', '.join(values)}"
            for name, values in shared.items()
        },
        disparities=tuple(
            replace(item, blocks=() if len(found[item]) == everywhere else tuple(found[item]))
            for item in unequal
        ),
    )


def report_differences(study: Study, say: Callable[[str], object]) -> None:
    """Say in one line in what the losses differ, after configs of earlier results were found.

    Raises:
        StudyError: the losses differ in something that the study file should declare.
    """
    found = fairness(study).disparities
    if rules := undeclared(found):
        raise StudyError([f"study {study.name}: {rule}" for rule in rules.values()])
    if summary := summarise_differences(found):
        say(f"Not equal between the losses: {summary}. See Fairness in the report.")


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


def _compared(study: Study) -> dict[Disparity, list[str]]:
    """Everything that losses could differ in -> labels of the blocks where it is so.

    It has one side if all losses that use it share its value, none if no loss uses it.
    """
    found: dict[Disparity, list[str]] = {}
    for alike in _blocks_alike(study):
        facts = {loss: _facts(study, alike[0], loss) for loss in study.loss_names}
        for name in DECLARABLE:
            sides: dict[str, list[str]] = {}
            for loss, values in facts.items():
                if name in values:
                    sides.setdefault(values[name], []).append(loss)
            ordered = sorted(sides, key=int) if name == SEARCHED else list(sides)
            standing, reason = _standing(study, alike[0], sides, name)
            item = Disparity(
                name=name,
                area=_AREAS.get(name, "training"),
                sides=tuple(Side(value=it, competitors=tuple(sides[it])) for it in ordered),
                standing=standing,
                reason=reason,
            )
            found.setdefault(item, []).extend(block.label for block in alike)
    return found


def _blocks_alike(study: Study) -> Iterable[list[Block]]:
    """Blocks in groups whose losses are trained alike, from as many given configs."""
    groups: dict[tuple[object, ...], list[Block]] = {}
    for block in blocks(study):
        warm = [_num_warm(study, block, loss) for loss in study.loss_names]
        groups.setdefault((block.dataset, block.backbone, *warm), []).append(block)
    return groups.values()


def _num_warm(study: Study, block: Block, loss: str) -> int:
    return len(study.warm_starts.get(warm_start_key(block.label, loss), ()))


def _equal(study: Study) -> dict[str, str]:
    """What all losses of a block share by construction."""
    search, stopping = study.search, study.search.early_stopping.kind
    number = study.final.seeds
    seeds = "one fresh seed" if number == 1 else f"{number} fresh seeds"
    shares = ", or an equal share of a budget of hours" if has_time_limit(study.budget) else ""
    short = f" up to epoch {search.epochs}" if search.epochs else ""
    return {
        "block": "backbone, weights, embedding dimension, image size",
        "searches": f"{trials_per_search(study)} trials{short}{shares} by {search.sampler}, early "
        f"stopping {stopping}, one seed",
        "validation": "the same splits of the classes",
        "finals": f"{seeds}, the same folds",
    }


def _facts(study: Study, block: Block, loss: str) -> dict[str, str]:
    """What `DECLARABLE` names of a loss in a block, as texts that are equal iff the facts are.

    Searched hyperparameters include those of training. How many configs a search can try is
    mostly its whole budget.
    """
    parsed, warm = parse_loss(loss), _num_warm(study, block, loss)
    traits = {
        *facts_of(loss).needs,
        *(["memory"] if any(term.has_memory for term in parsed.all_terms) else []),
        *(["pretraining"] if parsed.pretraining else []),
    }
    return {
        **_settings(study, block, loss),
        WARM_START: f"{warm} config{'s' if warm != 1 else ''}",
        "first_config": _first_config(study, block, loss),
        SEARCHED: str(num_searched(study, loss)),
        "tried_configs": str(num_tried_configs(study, block, loss)),
        **{
            name: yes if trait in traits else no
            for name, (trait, yes, no) in LOSS_PROPERTIES.items()
        },
        RETRIEVAL: geometry_of(traits),
    }


def num_tried_configs(study: Study, block: Block, loss: str) -> int:
    """Upper bound on distinct configs of a search, default and given configs included."""
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
        own = {name: value for name, value in values.items() if name in facts.parameters}
        if own.items() - facts.defaults.items():
            return f"{whose} values"
    return "published defaults"


def _standing(
    study: Study, block: Block, sides: Mapping[str, Sequence[str]], name: str
) -> tuple[DeclarationStatus, str]:
    """What gives any of these losses a value or range of its own, and the reason for it."""
    if name in study.declared_differences:
        return "declared", study.declared_differences[name]
    if name in _AREAS:  # configs of earlier results are only noted if every loss got some
        return ("undeclared" if name == WARM_START and "0 configs" in sides else "noted"), ""
    losses = [loss for competitors in sides.values() for loss in competitors]
    stated = map(study.loss, losses)
    if any(name in loss.values or name in loss.own_parameters for loss in stated):
        return "undeclared", ""
    if any(name in recipe_values(study, block, loss) for loss in losses):
        return "recipe", reasons_of(study.training.recipe).get(name, "")
    return "noted", ""


def _settings(study: Study, block: Block, loss: str) -> dict[str, str]:
    """Training settings that this loss uses, as texts that are equal iff the settings are."""
    item = TrainedLoss(study, block, loss)
    searched = {name: _range_text(it) for name, it in item.space.parameters.items()}
    return {
        name: f"{searched.get(name, '')}{_text(value)}"
        for name, value in asdict(item.training).items()
        if name in TRAINING_TYPES and name not in item.unused
    }


def _range_text(tried: Real | Int | Choice) -> str:
    if isinstance(tried, Choice):
        return f"searched among {', '.join(map(_text, tried.values))}, first "
    how = " (logarithmic)" if tried.log else ""
    steps = f" in steps of {_text(tried.step)}" if tried.step else ""
    return f"searched from {_text(tried.low)} to {_text(tried.high)}{steps}{how}, first "


def _text(value: Value) -> str:
    """The value as text; a float in six digits if that is exact."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, float):
        return str(value)
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
