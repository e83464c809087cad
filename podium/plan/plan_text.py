"""A plan in words and tables of at most 80 columns."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from orchestrator.planning.budget_plan import BudgetPlan
from orchestrator.planning.disk_size import DiskSize
from orchestrator.planning.study_hours import NeededHours
from orchestrator.planning.study_plan import StudyPlan
from orchestrator.results.records.expected_values import Expected
from orchestrator.results.records.fairness_record import summarise_differences
from podium.plan.hours_text import cost_sentence, hours_line
from podium.plan.population_text import population_note
from podium.plan.power_text import power_notes, power_rows, power_warnings
from podium.plan.primary_test import verdict_line, verdict_note
from podium.plan.statistical_power import StudyPower
from podium.plan.training_text import block_rows, training_details, training_note
from podium.terminal.fairness_text import fairness_notes
from podium.terminal.printing import table_text

if TYPE_CHECKING:
    from podium.plan.make_plan import Plan
    from podium.plan.measured_epoch import MeasuredEpoch

_WIDTH = 80


def plan_text(found: "Plan", *, full: bool = False) -> str:
    """A plan in words, as ``podium plan`` prints it.

    It begins with trials, hours and the verdict, and what a user has to know before the run.

    Args:
        found: the plan.
        full: whether all details follow: tables of counts, power, training, fairness and costs.
    """
    planned, power = found.counts, found.power
    parts = ["\n".join(map(_wrapped, opening_lines(planned)))]
    if found.refusal is not None:
        parts.append(f"podium run would be refused: {found.refusal}")
    parts += map(_wrapped, _first_notes(planned, power))
    if full:
        parts += _tables(planned, power)
        parts += map(_wrapped, _notes(planned, power, found.measured_epoch))
    elif found.measured_epoch is not None:
        parts.append(_wrapped(_probe_note(found.measured_epoch)))
    parts += [_wrapped(f"Packing: {advice}") for advice in found.packing]
    if found.like_note:
        parts.append(_wrapped(found.like_note))
    if not full:
        parts.append("Details: the same command with --full")
    return "\n\n".join(parts)


def _wrapped(text: str) -> str:
    """At most 80 columns; paths stay whole, so that they can be copied."""
    return textwrap.fill(text, _WIDTH, break_on_hyphens=False, break_long_words=False)


def opening_lines(planned: StudyPlan) -> Iterator[str]:
    """What is compared, how many trials, how many hours, and what it can show."""
    blocks, losses, searches = (
        len(items) for items in (planned.blocks, planned.study.losses, planned.searches)
    )
    protocols = len({item.search.protocol for item in planned.searches})
    repeats = searches // (blocks * losses * protocols)
    yield (
        f"Study {planned.study.name}: {_count(blocks, 'block')} x {_count(losses, 'loss')}"
        f"{f' x {protocols} protocols' if protocols > 1 else ''}"
        f"{f' x {repeats} repeats' if repeats > 1 else ''} = {_count(searches, 'search')}"
    )
    stages = ", ".join(f"{name} {stage.trials:,}" for name, stage in planned.stages.items())
    yield f"Trials: at most {planned.trials:,} ({stages}), {planned.epochs:,} epochs"
    yield f"Hours: {hours_line(planned)}"
    yield f"Verdict: {verdict_line(planned)}"
    yield f"Disk: {_disk(planned.disk)}"


def _disk(disk: DiskSize) -> str:
    """Results and what is most of them, caches, and what a trial needs while it runs."""
    parts = {"models": disk.models, "embeddings": disk.embeddings}
    kept = ", ".join(f"{name} {_size(size)}" for name, size in parts.items() if size)
    text = f"about {_size(disk.results)} of results{f' ({kept})' if kept else ''}"
    if disk.caches:
        text += f", {_size(disk.caches)} of caches"
    text += f"; {_size(disk.checkpoint)} more for each trial that runs"
    if disk.uncounted:
        text += f", without the weights of {', '.join(disk.uncounted)}"
    return text


def _size(num_bytes: int) -> str:
    """Two digits: 480 kB, 6.1 MB, 12 GB."""
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if num_bytes >= unit:
            number = num_bytes / unit
            return f"{float(f'{number:.2g}'):,.{0 if number >= 9.95 else 1}f} {name}"
    return f"{num_bytes / 1e3:.0f} kB"


def _first_notes(planned: StudyPlan, power: StudyPower) -> Iterator[str]:
    """What must be known before the run: training, what is missing, and warnings."""
    yield training_note(planned)
    if (together := population_note(planned)) is not None:
        yield together
    yield from planned.missing
    if planned.leakage.leaking:
        leaking = ", ".join(planned.leakage.leaking)
        yield (
            f"Leak: {leaking} scores searches on the test classes. Its results are marked so and "
            "are only to be compared with."
        )
    yield from _budget_notes(planned.budget)
    yield from power_warnings(planned, power)
    if (expected := planned.study.expect) is not None:
        yield f"Expected: {_expected(expected, planned.study.search.objectives[0])}"
    if summary := summarise_differences(planned.fairness.disparities):
        yield f"Not equal between the losses: {summary}."


def _tables(planned: StudyPlan, power: StudyPower) -> list[str]:
    rows = [_stage_rows(planned), _loss_rows(planned), _dataset_rows(planned), block_rows(planned)]
    return [_table(items) for items in (*rows, *([power_rows(power)] if power.datasets else []))]


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
    yield from training_details(planned)
    yield f"Statistics: {verdict_note(planned)}"
    yield from fairness_notes(planned.fairness, planned.study.loss_names)
    yield f"Leakage: {_leakage(planned)}"
    yield f"Cost: {cost_sentence(planned)}"
    if measured is not None:
        yield _probe_note(measured)


def _probe_note(measured: "MeasuredEpoch") -> str:
    return (
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
