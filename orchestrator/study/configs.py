"""Search spaces, configs and training of a study's losses in its blocks."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from podium.orchestrator.search_samplers.suggester import SearchTask
from podium.orchestrator.study.blocks import blocks, dataset_of
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import Block, Study
from podium.search_spaces.parameters import Space, Value, existing
from podium.search_spaces.training_parameters import PROXY_PARAMETERS
from podium.trainables.recipes import loss_values, training_for
from podium.trainables.settings.training_settings import (
    TRAINING_TYPES,
    HyperparameterValue,
    TrainingSettings,
)

if TYPE_CHECKING:
    from podium.orchestrator.results.records.trial_schema import HyperparameterType


def space_of(
    study: Study, loss: str, values: Mapping[str, HyperparameterValue] | None = None
) -> Space:
    """The space that the study's searches cover for ``loss``, training parameters included.

    Ranges of learning rates are centred on `unsearched_values` of a block, which are left out
    where only the names of parameters matter.
    """
    facts, own = facts_of(loss), study.loss(loss).space
    space = study.search.space if own is None else own
    joined = facts.joined_space(space, study.search.tune, values)
    of_recipe = loss_values(study.training.recipe, loss)
    in_every_block = {**facts.defaults, **of_recipe, **study.loss(loss).values}
    fixed = in_every_block if values is None else values
    if facts.has_proxies(extreme_configs(fixed, joined)):
        return joined
    tune = [name for name in study.search.tune if name not in PROXY_PARAMETERS]
    return facts.joined_space(space, tune, values)


def num_searched(study: Study, loss: str) -> int:
    """Hyperparameters that searches of ``loss`` vary; a search of one trial has the default."""
    return len(space_of(study, loss).parameters) if study.search.trials > 1 else 0


def extreme_configs(values: Mapping[str, Value], space: Space) -> Iterator[Mapping[str, Value]]:
    """The first config, then it with one parameter at an end of what is searched."""
    yield values
    for name, tried in space.parameters.items():
        for end in tried.ends():
            yield {**values, name: end}


def training_of(study: Study, block: Block) -> TrainingSettings:
    """Training settings of the study's recipe in a block, with the study's overrides."""
    name = dataset_of(study, block).name
    recipe = training_for(study.training.recipe, dataset=name, backbone=block.backbone)
    return recipe.with_values(study.training.overrides)


def loss_training(study: Study, block: Block, loss: str) -> TrainingSettings:
    """Training settings of a loss in a block with `unsearched_values`."""
    return training_of(study, block).with_values(unsearched_values(study, block, loss))


def unsearched_values(study: Study, block: Block, loss: str) -> dict[str, HyperparameterValue]:
    """Value of every hyperparameter outside of searches.

    By increasing precedence: the loss's published values; the block's settings, for training
    hyperparameters that are searched; the recipe's values for this loss, unless the study file
    overrides the setting for all; the study file's ``values``. Conditional hyperparameters are
    included, whether they exist or not.
    """
    training = asdict(training_of(study, block))
    searched = {
        name: training[name] for name in space_of(study, loss).parameters if name in training
    }
    of_recipe = recipe_values(study, block, loss)
    return {**facts_of(loss).defaults, **searched, **of_recipe, **study.loss(loss).values}


def recipe_values(study: Study, block: Block, loss: str) -> dict[str, HyperparameterValue]:
    """The recipe's values for this loss, without settings that the study file overrides."""
    given = loss_values(study.training.recipe, loss, dataset=dataset_of(study, block).name)
    return {name: value for name, value in given.items() if name not in study.training.overrides}


def default_config(study: Study, block: Block, loss: str) -> dict[str, HyperparameterValue]:
    """The first config of a search: published values, or those of recipe or study file."""
    return existing(unsearched_values(study, block, loss), facts_of(loss).conditions)


def first_configs(study: Study, block: Block, loss: str) -> tuple[dict[str, Value], ...]:
    """The default, then configs of the warm start, each once."""
    values = unsearched_values(study, block, loss)
    conditions = facts_of(loss).conditions
    known = [default_config(study, block, loss)]
    for point in study.warm_starts.get(warm_start_key(block.label, loss), ()):
        config = existing({**values, **point}, conditions)
        if config not in known:
            known.append(config)
    return tuple(known)


def search_task(study: Study, block: Block, loss: str, seed: int = 0) -> SearchTask:
    """What the searches of a loss in a block draw from; only draws depend on the seed."""
    values = unsearched_values(study, block, loss)
    return SearchTask(
        space=space_of(study, loss, values),
        values=values,
        conditions=facts_of(loss).conditions,
        trials=study.search.trials,
        seed=seed,
        first=first_configs(study, block, loss),
        in_batches=study.search.population > 1,
    )


def warm_start_key(block: str, loss: str) -> str:
    """Key of `Study.warm_starts` for a loss in the block with that label."""
    return f"{block} {loss}"


def hyperparameter_types(study: Study) -> "dict[str, HyperparameterType]":
    """Type of every ``hp.*`` column; a name with two types gets the wider one."""
    kinds: dict[str, set[type]] = {}
    for loss in study.loss_names:
        known = facts_of(loss).legal_parameters
        for name in {name for it in blocks(study) for name in unsearched_values(study, it, loss)}:
            kind = known[name].legal.kind if name in known else TRAINING_TYPES[name]
            kinds.setdefault(name, set()).add(kind)
    names: dict[type, HyperparameterType] = {float: "float", int: "int", bool: "bool", str: "str"}
    return {
        name: names[next(iter(found))]
        if len(found) == 1
        else ("float" if found == {int, float} else "str")
        for name, found in sorted(kinds.items())
    }
