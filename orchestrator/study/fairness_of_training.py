"""How the losses of a study are trained, setting by setting, and what makes them differ."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from podium.orchestrator.results.records.fairness_record import DeclarationStatus, Disparity, Side
from podium.orchestrator.study.blocks import dataset_of
from podium.orchestrator.study.configs import (
    extreme_configs,
    recipe_values,
    space_of,
    training_of,
    unsearched_values,
)
from podium.orchestrator.study.study import Block, Study
from podium.orchestrator.study.unused_settings import why_unused_training
from podium.search_spaces.parameters import Choice, Int, Real, Value
from podium.trainables.recipes import reasons_of
from podium.trainables.settings.training_settings import TRAINING_TYPES


def training_disparities(study: Study, block: Block) -> Iterator[Disparity]:
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
            sides=group_by_value(found),
            standing=standing,
            reason=reasons.get(name, "") if standing == "recipe" else "",
        )


def group_by_value(found: Sequence[tuple[str, str]]) -> tuple[Side, ...]:
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
    dataset = dataset_of(study, block)
    texts = {}
    for name, value in asdict(training).items():
        if name in TRAINING_TYPES and not why_unused_training(
            name,
            training,
            dataset=dataset,
            backbone=block.backbone,
            loss=loss,
            configs=extreme_configs(values, space),
        ):
            texts[name] = _setting_text(value, space.parameters, name)
    return texts


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
