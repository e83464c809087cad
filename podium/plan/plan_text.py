"""A plan in words and tables of at most 80 columns."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from orchestrator.planning.block_plan import BlockPlan
from orchestrator.planning.budget_plan import BudgetPlan
from orchestrator.planning.study_hours import NeededHours
from orchestrator.planning.study_plan import StudyPlan
from orchestrator.results.records.expected_values import Expected
from podium.plan.hours_text import cost_sentence
from podium.plan.power_text import power_notes, power_rows
from podium.plan.primary_test import verdict_note
from podium.plan.statistical_power import StudyPower
from podium.plan.sweep_text import sweep_notes
from podium.terminal.fairness_text import fairness_notes
from podium.terminal.printing import table_text
from trainables.registry import literals
from trainables.settings.training_settings import TrainingSettings
from trainables.settings.trial_settings import RANDOM_WEIGHTS

if TYPE_CHECKING:
    from podium.plan.measured_epoch import MeasuredEpoch

_WIDTH = 80

# Shown of every training; other settings only where blocks differ in them.
_ALWAYS = ("batch_size", "epochs", "learning_rate", "step_epochs")
_SHORT = {"batch_size": "batch", "learning_rate": "lr", "step_epochs": "step"}


def plan_text(
    planned: StudyPlan, power: StudyPower, measured_epoch: "MeasuredEpoch | None" = None
) -> str:
    """The whole plan, as ``podium plan`` prints it.

    Args:
        planned: counts, splits, trainings and costs.
        power: statistical power of ``planned``.
        measured_epoch: cost of the first epoch; None if it was not measured.
    """
    blocks, losses, searches = (
        len(items) for items in (planned.blocks, planned.study.losses, planned.searches)
    )
    protocols = len({item.search.protocol for item in planned.searches})
    repeats = searches // (blocks * losses * protocols)
    title = (
        f"Study {planned.study.name}: {_count(blocks, 'block')} x {_count(losses, 'loss')}"
        f"{f' x {protocols} protocols' if protocols > 1 else ''}"
        f"{f' x {repeats} repeats' if repeats > 1 else ''} = {_count(searches, 'search')}"
    )
    return "\n\n".join(
        [
            title,
            _table(_stage_rows(planned)),
            _table(_loss_rows(planned)),
            _table(_dataset_rows(planned)),
            _table(_block_rows(planned)),
            *([_table(power_rows(power))] if power.datasets else []),
            *(
                # Paths stay whole, so that they can be copied.
                textwrap.fill(text, _WIDTH, break_on_hyphens=False, break_long_words=False)
                for text in _notes(planned, power, measured_epoch)
            ),
        ]
    )


def search_rows(planned: StudyPlan) -> Sequence[dict[str, object]]:
    """One row for each search, with all its counts."""
    return [
        {
            "search": item.search.id,
            "block": item.search.block.label,
            "loss": item.search.loss,
            "protocol": item.search.protocol,
            "repeat": item.search.repeat,
            "dimensions": item.dimensions,
            "search_trials": item.search_trials,
            "final_trials": item.final_trials,
            "epochs": item.epochs,
        }
        for item in planned.searches
    ]


def _table(rows: Sequence[dict[str, object]]) -> str:
    return table_text(rows, columns=list(rows[0]))


def _stage_rows(planned: StudyPlan) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = [
        {"stage": name, "trials": stage.trials, "epochs at most": stage.epochs}
        for name, stage in planned.stages.items()
    ]
    total = {"stage": "total", "trials": planned.trials, "epochs at most": planned.epochs}
    return [*rows, total]


def _loss_rows(planned: StudyPlan) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for loss in planned.study.loss_names:
        items = [item for item in planned.searches if item.search.loss == loss]
        rows.append(
            {
                "loss": loss,
                "searches": len(items),
                "dimensions": items[0].dimensions,
                "search trials": sum(item.search_trials for item in items),
                "final trials at most": sum(item.final_trials for item in items),
            }
        )
    return rows


def _dataset_rows(planned: StudyPlan) -> list[dict[str, object]]:
    rows = []
    are_several = len({item.protocol for item in planned.datasets}) > 1
    for item in planned.datasets:
        row: dict[str, object] = {
            "data set": item.dataset,
            **({"protocol": item.protocol} if are_several else {}),
            "classes: train": item.train_classes,
            "val": "the test" if item.leaks else item.val_classes,
            "test": item.test_classes,
            "val queries": item.val_queries,
        }
        if item.standard_error is not None:
            row["1 s.e. of R@1"] = f"{item.standard_error:.2%}"
        rows.append(row)
    return rows


def _notes(
    planned: StudyPlan, power: StudyPower, measured: "MeasuredEpoch | None"
) -> Iterator[str]:
    finals = (
        "Final trials: the winner and the published default of each search, over all seeds and "
        "folds; half as many where the default wins."
        if planned.study.search.trials > 1
        else "Final trials: the published default, which nothing competes with, over all seeds "
        "and folds."
    )
    if any(item.standard_error is not None for item in planned.datasets):
        yield (
            "1 s.e.: one standard error of a validation Recall@1 of 80 %, were the queries "
            f"independent. {finals}"
        )
    else:
        yield f"Retrieved by label distance and scored by nDCG, not by class. {finals}"
    yield from power_notes(planned, power)
    yield from sweep_notes(planned.sweeps)
    yield from _training_notes(planned)
    yield from planned.missing
    yield f"Statistics: {verdict_note(planned)}"
    if (expected := planned.study.expect) is not None:
        yield f"Expected: {_expected(expected, planned.study.search.objectives[0])}"
    yield from fairness_notes(planned.fairness, planned.study.loss_names)
    yield f"Leakage: {_leakage(planned)}"
    yield f"Cost: {cost_sentence(planned)}"
    yield from _budget_notes(planned.budget)
    if measured is not None:
        yield (
            f"Probe: the first epoch of {measured.loss} on {measured.block} took "
            f"{measured.seconds:.2g} s on {measured.device}. All at this cost: at most "
            f"{measured.hours_of_block:.2g} hours for this block, {measured.hours:.2g} for the "
            "study. Other blocks cost more or less."
        )


def _expected(expected: Expected, metric: str) -> str:
    """How many published values the results will be compared with."""
    ranks = f" and {_count(len(expected.ranks), 'average rank')}" if expected.ranks else ""
    elsewhere = expected.num_elsewhere
    rest = f"; {_count(elsewhere, 'further value')} there not" if elsewhere else ""
    covered = _count(len(expected.values), "published value")
    impossible = _impossible(expected, metric)
    return f"the study covers {covered}{ranks} of {expected.source}{rest}.{impossible}"


def _impossible(expected: Expected, metric: str) -> str:
    """Which values are compared with nothing, as they cannot all be right."""
    values = expected.impossible(metric)
    if not values:
        return ""
    cells = dict.fromkeys(f"{it.loss} in {it.block}" for it in values)
    return (
        f" Recall cannot fall as K grows, as it does in {_count(len(values), 'value')} of "
        f"{'; '.join(cells)}: these are compared with nothing."
    )


def _leakage(planned: StudyPlan) -> str:
    check = planned.leakage
    parts = [
        f"no class is on two sides of the {_count(check.num_splits, 'split')} drawn here; labels "
        "and images are checked when trials load them"
    ]
    if check.by_name:
        parts.append(f"classes of {', '.join(check.by_name)} are checked when the study starts")
    if check.leaking:
        parts.append(f"{', '.join(check.leaking)} is scored on the test classes and marked so")
    return f"{'; '.join(parts)}."


def _count(number: int, noun: str) -> str:
    plural = f"{noun}es" if noun.endswith(("s", "ch")) else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def _budget_notes(budget: BudgetPlan) -> Iterator[str]:
    """One sentence or two for each limit; none without a budget."""
    limits = budget.limits
    if limits.trials is not None:
        of = f" of {budget.wanted_trials}" if budget.is_cut else ""
        yield (
            f"Budget: {limits.trials} trials leave each of {budget.num_searches} searches "
            f"{budget.trials_per_search}{of}, finals and baselines kept back."
        )
    if limits.gpu_hours is not None:
        yield f"Budget: {limits.gpu_hours:g} GPU-hours. {_against(budget, limits.gpu_hours)}"
    if limits.wall_hours is not None:
        yield f"Budget: {limits.wall_hours:g} hours of all runs. {_slots(budget)}"


def _against(budget: BudgetPlan, limit: float) -> str:
    """Whether the GPU-hours needed fit the limit, and what is left for each search."""
    needed = budget.gpu_hours
    if needed is None:
        return (
            "What the study needs is not known before the first trial is done; each of "
            f"{budget.num_searches} searches has an equal share of what the final stage leaves."
        )
    if needed.high <= limit:
        fits = "so it fits"
    elif needed.low > limit:
        fits = "so searches will end early"
    else:
        fits = "so searches may end early"
    share = max(0.0, limit - needed.finals) / budget.num_searches
    left = (
        f" Each of {budget.num_searches} searches has {share:.2g}, after {needed.finals:.2g} for "
        "the final stage."
        if needed.finals < limit
        else f" The final stage alone takes {needed.finals:.2g}: it will be stopped."
    )
    return f"All trials take at most {_range(needed)} GPU-hours, {fits}.{left}"


def _slots(budget: BudgetPlan) -> str:
    """How many worker slots finish all trials within the hours of a budget."""
    needed, limit = budget.slot_hours, budget.limits.wall_hours
    assert limit is not None, "only called with a budget of hours"
    if needed is None:
        return "What the study needs is not known before the first trial is done."
    return (
        f"All trials take at most {_range(needed)} hours one after the other, so "
        f"{max(1.0, needed.median / limit):.2g} at a time are enough."
    )


def _range(needed: NeededHours) -> str:
    return f"{needed.median:.2g} ({needed.low:.2g} to {needed.high:.2g})"


def _block_rows(planned: StudyPlan) -> list[dict[str, object]]:
    """One row for the blocks of a data set and backbone at one image size.

    Image size, weights and settings of training have a column where blocks differ in them.
    """
    varying = [name for name in _ALWAYS if name in _varying(planned.trainings)]
    has_size = any(item.block.image_size is not None for item in planned.trainings)
    has_weights = any(item.weights != RANDOM_WEIGHTS for item in planned.trainings)
    rows: dict[tuple[object, ...], dict[str, object]] = {}
    for item in planned.trainings:
        block = item.block
        row: dict[str, object] = {"data set": block.dataset, "backbone": block.backbone}
        if has_weights:
            row["weights"] = _weights(item.weights)
        if has_size:
            row["px"] = block.image_size
        row |= {_SHORT.get(name, name): getattr(item.training, name) for name in varying}
        row["embedding dims"] = ""
        found = rows.setdefault(tuple(row.values()), row)
        dims = f"{found['embedding dims']}, {block.embedding_dim}".removeprefix(", ")
        found["embedding dims"] = dims
    return list(rows.values())


def _training_notes(planned: StudyPlan) -> Iterator[str]:
    """Recipe, settings that are the same in all blocks, and what it sets for single losses."""
    first = planned.trainings[0].training
    varying = _varying(planned.trainings)
    shared = [f"{name} {_text(getattr(first, name))}" for name in _ALWAYS if name not in varying]
    others = [name for name in varying if name not in _ALWAYS]
    parts = [f"recipe {first.recipe}"]
    parts += [f"in all blocks {', '.join(shared)}"] if shared else []
    parts += [f"blocks also differ in {', '.join(others)}"] if others else []
    yield f"Training: {'; '.join(parts)}."
    if special := _special(planned.trainings):
        yield f"The recipe gives values of their own to {special}."
    if embedding := _samplers_with_embeddings(planned.trainings):
        yield (
            f"The sampler {', '.join(embedding)} embeds all training images before each epoch: "
            "one more forward pass over them."
        )


def _samplers_with_embeddings(trainings: Sequence[BlockPlan]) -> list[str]:
    samplers = {item.training.sampler for item in trainings}
    given = (values for item in trainings for values in item.of_losses.values())
    samplers |= {str(values["sampler"]) for values in given if "sampler" in values}
    package = "batch_samplers"
    return sorted(name for name in samplers if literals(package, name).get("needs_embeddings"))


def _varying(trainings: Sequence[BlockPlan]) -> list[str]:
    """Settings in which blocks differ, in their order."""
    names = [field.name for field in fields(TrainingSettings)]
    return [name for name in names if len({getattr(it.training, name) for it in trainings}) > 1]


def _special(trainings: Sequence[BlockPlan]) -> str:
    """``triplet (margin 0.1), fast_ap (bins 20)``; "by data set" where that is not the same."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for item in trainings:
        for loss, values in item.of_losses.items():
            found.setdefault(loss, []).append(values)
    texts = []
    for loss, given in found.items():
        is_same = all(values == given[0] for values in given)
        shown = ", ".join(f"{name} {_text(value)}" for name, value in given[0].items())
        texts.append(f"{loss} ({shown if is_same else 'by data set'})")
    return ", ".join(texts)


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _weights(weights: str) -> str:
    """A published name as it is; a file by its kind, since paths are long."""
    return "a file" if "/" in weights else weights


def block_records(planned: StudyPlan) -> list[dict[str, object]]:
    """Every block with its training, weights and defaults, as plain values for JSON."""
    return [
        {
            "block": item.block.label,
            **asdict(item.block),
            "weights": item.weights,
            "training": asdict(item.training),
            "of_losses": {loss: dict(values) for loss, values in item.of_losses.items()},
            "defaults": {loss: dict(values) for loss, values in item.defaults.items()},
        }
        for item in planned.trainings
    ]
