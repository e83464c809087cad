"""What is equal between the competitors of a study, and what is not. Pure: reads no results.

Competitors are the losses within a block. What affects a comparison beside the loss itself is
either equal by construction or a `Disparity`; one that the study file causes has to be declared
in it. Protocols are competitors too where a study crosses several.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, replace

from podium.errors import StudyError
from podium.orchestrator.results.records.fairness_record import (
    DeclarationStatus,
    Disparity,
    Fairness,
    Side,
    join_names,
    summarise_differences,
)
from podium.orchestrator.search_samplers.coordinate import max_configs
from podium.orchestrator.search_samplers.grid import num_configs
from podium.orchestrator.study.blocks import blocks, dataset_of, has_time_limit, trials_per_search
from podium.orchestrator.study.configs import (
    extreme_configs,
    num_searched,
    recipe_values,
    search_task,
    space_of,
    training_of,
    unsearched_values,
    warm_start_key,
)
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import Block, Study
from podium.orchestrator.study.unused_settings import unused_by
from podium.search_spaces.parameters import Choice, Int, Real, Value
from podium.trainables.recipes import reasons_of
from podium.trainables.settings.loss_expression import parse_loss
from podium.trainables.settings.training_settings import TRAINING_TYPES
from podium.trainables.settings.trial_settings import ProtocolSettings

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

DECLARABLE = (
    *TRAINING_TYPES,
    WARM_START,
    "first_config",
    SEARCHED,
    "tried_configs",
    *LOSS_PROPERTIES,
)
"""Names of all that competitors can differ in; keys of ``declared_differences``."""


def fairness(study: Study) -> Fairness:
    """What the competitors of the study share and in what they differ.

    Raises:
        TrialInputError: a data set, network or loss is unknown.
    """
    folds = [(protocol.label, str(protocol.num_folds)) for protocol in study.protocols]
    leaks = [(protocol.label, "yes" if protocol.leaks else "no") for protocol in study.protocols]
    between_protocols = (  # in trainings per config, and in what searches see
        Disparity(name="trainings_of_a_config", area="protocol", sides=_group_by_value(folds)),
        Disparity(name="search_sees_test_classes", area="protocol", sides=_group_by_value(leaks)),
    )
    unequal = [item for item in between_protocols if len(item.sides) > 1]
    return Fairness(
        equal=_equal(study),
        settings=_equal_settings(study),
        disparities=(*disparities(study), *unequal),
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
    found: dict[Disparity, list[str]] = {}
    crossed = _representatives(study)
    for block, labels in crossed.items():
        for item in (*_training_disparities(study, block), *_loss_disparities(study, block)):
            found.setdefault(_declared(study, item), []).extend(labels)
    all_labels = [label for labels in crossed.values() for label in labels]
    for label in all_labels:
        item = _declared(study, _warm_start_disparity(study, label))
        found.setdefault(item, []).append(label)
    order = {name: rank for rank, name in enumerate(DECLARABLE)}
    return tuple(
        replace(item, blocks=() if len(labels) == len(all_labels) else tuple(labels))
        for item, labels in sorted(found.items(), key=lambda pair: order[pair[0].name])
        if len(item.sides) > 1
    )


def _representatives(study: Study) -> dict[Block, tuple[str, ...]]:
    """First block of each data set and backbone -> labels of all of them, trained alike."""
    labels: dict[tuple[str, str], list[Block]] = {}
    for block in blocks(study):
        labels.setdefault((block.dataset, block.backbone), []).append(block)
    return {items[0]: tuple(item.label for item in items) for items in labels.values()}


def _declared(study: Study, item: Disparity) -> Disparity:
    if item.name not in study.declared_differences:
        return item
    return replace(item, standing="declared", reason=study.declared_differences[item.name])


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
        **_validation(study),
        "finals": f"{seeds}, the same folds",
    }


def _equal_settings(study: Study) -> dict[str, str]:
    """Training settings that all losses of a block share, of those that any loss uses."""
    settings = [
        item for block in _representatives(study) for item in _training_disparities(study, block)
    ]
    unequal = {item.name for item in settings if len(item.sides) > 1}
    values: dict[str, list[str]] = {}
    for item in settings:
        if item.sides and item.name not in unequal:
            values.setdefault(item.name, []).append(item.sides[0].value)
    different = {name: list(dict.fromkeys(found)) for name, found in values.items()}
    return {
        name: found[0] if len(found) == 1 else f"by block: {', '.join(found)}"
        for name, found in different.items()
    }


def _validation(study: Study) -> dict[str, str]:
    """What configs are validated on; with several protocols, by protocol."""
    labels: dict[str, list[str]] = {}
    for protocol in study.protocols:
        labels.setdefault(_splits_of(protocol), []).append(protocol.label)
    if len(study.protocols) == 1:
        return {"validation": next(iter(labels))}
    return {f"validation under {join_names(names)}": splits for splits, names in labels.items()}


def _splits_of(protocol: ProtocolSettings) -> str:
    if protocol.leaks:
        return "the test classes: a leak, kept to compare with"
    if protocol.kind == "random_splits":
        return "a fresh split for each config, the same for the same config"
    folds = protocol.num_folds
    return "the same split" if folds == 1 else f"the same {folds} folds"


def _loss_disparities(study: Study, block: Block) -> Iterator[Disparity]:
    """Where searches begin and how much they cover, and `LOSS_PROPERTIES`.

    Searched hyperparameters include those of training. How many configs a search can try is
    mostly its whole budget.
    """
    losses = study.loss_names
    first = [(loss, _first_config(study, block, loss)) for loss in losses]
    yield Disparity(name="first_config", area="search", sides=_group_by_value(first))
    sizes = sorted(((loss, num_searched(study, loss)) for loss in losses), key=lambda it: it[1])
    searched = [(loss, str(size)) for loss, size in sizes]
    yield Disparity(name=SEARCHED, area="space", sides=_group_by_value(searched))
    tried = [(loss, str(num_tried_configs(study, block, loss))) for loss in losses]
    yield Disparity(name="tried_configs", area="space", sides=_group_by_value(tried))
    traits = {loss: _traits(loss) for loss in losses}
    for name, (trait, yes, no) in LOSS_PROPERTIES.items():
        found = [(loss, yes if trait in traits[loss] else no) for loss in losses]
        yield Disparity(name=name, area="loss", sides=_group_by_value(found))


def _traits(loss: str) -> Set[str]:
    """What a loss needs, and whether it has a memory or a pre-training."""
    parsed = parse_loss(loss)
    memory = {"memory"} if any(term.has_memory for term in parsed.all_terms) else set()
    return facts_of(loss).needs | memory | ({"pretraining"} if parsed.pretraining else set())


def _warm_start_disparity(study: Study, block: str) -> Disparity:
    """How many configs earlier results gave the search of each loss in a block, by its label.

    Undeclared if some losses got no config; only noted if some got more than others.
    """
    keys = {loss: warm_start_key(block, loss) for loss in study.loss_names}
    counts = {loss: len(study.warm_starts.get(key, ())) for loss, key in keys.items()}
    found = [
        (loss, f"{count} configs" if count != 1 else "1 config") for loss, count in counts.items()
    ]
    standing: DeclarationStatus = "noted" if all(counts.values()) else "undeclared"
    return Disparity(
        name=WARM_START, area="search", sides=_group_by_value(found), standing=standing
    )


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


def _training_disparities(study: Study, block: Block) -> Iterator[Disparity]:
    """Every training setting in a block, in the order of `TrainingSettings`.

    It has one side if all losses that use it share its value, none if no loss uses it.
    """
    seen = {loss: _settings(study, block, loss) for loss in study.loss_names}
    reasons = reasons_of(study.training.recipe)
    for name in TRAINING_TYPES:
        found = [(loss, settings[name]) for loss, settings in seen.items() if name in settings]
        standing = _standing(study, block, [loss for loss, _ in found], name)
        yield Disparity(
            name=name,
            area="training",
            sides=_group_by_value(found),
            standing=standing,
            reason=reasons.get(name, "") if standing == "recipe" else "",
        )


def _group_by_value(found: Sequence[tuple[str, str]]) -> tuple[Side, ...]:
    """Group (competitor, value) pairs by value, in order of first appearance."""
    by_value: dict[str, list[str]] = {}
    for competitor, value in found:
        by_value.setdefault(value, []).append(competitor)
    return tuple(Side(value=value, competitors=tuple(it)) for value, it in by_value.items())


def _standing(study: Study, block: Block, losses: Sequence[str], name: str) -> DeclarationStatus:
    """What gives any of these losses a value or range of its own: study file, recipe or space."""
    stated = [study.loss(loss) for loss in losses]
    if any(name in loss.values or name in loss.own_parameters for loss in stated):
        return "undeclared"
    if any(name in recipe_values(study, block, loss) for loss in losses):
        return "recipe"
    return "noted"


def _settings(study: Study, block: Block, loss: str) -> dict[str, str]:
    """Training settings that this loss uses, as texts that are equal iff the settings are."""
    values = unsearched_values(study, block, loss)
    training = training_of(study, block).with_values(values)
    space = space_of(study, loss, values)
    unused = unused_by(
        loss,
        training,
        extreme_configs(values, space),
        dataset=dataset_of(study, block),
        backbone=block.backbone,
    )
    return {
        name: _setting_text(value, space.parameters, name)
        for name, value in asdict(training).items()
        if name in TRAINING_TYPES and name not in unused
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
