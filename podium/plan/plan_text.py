"""A plan as one page of at most 80 columns: trials, hours, verdict, what to know before a run."""

import textwrap
from collections.abc import Iterator, Sequence

from podium.analysis.estimates.design_analysis import least_significant_difference
from podium.analysis.wording import counted, duration, renamed, shown_names
from podium.orchestrator.planning.block_plan import (
    network_notes,
    plan_warnings,
    why_search_alone,
)
from podium.orchestrator.planning.study_plan import StudyPlan
from podium.orchestrator.results.records.expected_values import Expected
from podium.orchestrator.results.records.fairness_record import summarise_differences
from podium.orchestrator.study.defaults import metric_of
from podium.plan.plan_details import detail_notes, detail_tables, points
from podium.plan.primary_test import verdict_line
from podium.plan.statistical_power import StudyPower
from podium.plan.training_text import training_note
from podium.terminal.printing import table_text

_WIDTH = 80
_SOURCES = {
    "results": "trials of this study",
    "machine": "earlier runs here",
    "shipped": "podium's figures of other machines, of which yours may differ several times over",
}


def plan_text(
    planned: StudyPlan,
    power: StudyPower,
    refusal: str | None,
    machine: Sequence[str],
    *,
    full: bool = False,
) -> str:
    """A plan in words, as ``podium plan`` prints it.

    Args:
        planned: searches, trials, epochs, splits, hours and budget.
        power: differences that the study can detect, and what its searches find.
        refusal: why ``podium run`` would refuse it; None if it would not.
        machine: `machine_notes` of this machine.
        full: whether all details follow: counts, splits, power, training and fairness.
    """
    study = planned.study
    labels = {it.name: it.label for it in study.losses if it.label and ":" in it.name}
    shown = shown_names(study.loss_names) | labels
    parts = ["\n".join(map(_wrapped, opening_lines(planned)))]
    if refusal is not None:
        parts.append(f"podium run would be refused: {refusal}")
    parts += map(_wrapped, renamed([*_notes(planned, power, machine)], shown))
    if full:
        parts += map(table_text, renamed(detail_tables(planned, power), shown))
        parts += map(_wrapped, renamed([*detail_notes(planned, power)], shown))
    else:
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
        f"Study {planned.study.name}: {counted(blocks, 'setting')}"
        f" x {counted(losses, 'loss', 'losses')}"
        f"{f' x {protocols} protocols' if protocols > 1 else ''}"
        f"{f' x {repeats} repeats' if repeats > 1 else ''} = {_searches(searches)}"
    )
    stages = ", ".join(f"{name} {trials:,}" for name, (trials, _) in planned.stages.items())
    yield f"Trials: at most {planned.trials:,} ({stages}), {planned.epochs:,} epochs"
    yield f"Time: {_hours(planned)}"
    yield f"Verdict: {verdict_line(planned)}"


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


def _searches(number: int) -> str:
    return counted(number, "search", "searches")


def _hours(planned: StudyPlan) -> str:
    hours = planned.hours
    if hours is None:
        return "not known before the first trial is done"
    on_gpus = f", {_time(hours.gpu)} of GPUs" if hours.gpu else ""
    sources = " and ".join(_SOURCES[source] for source in hours.sources)
    early = " if no trial is stopped early" if planned.study.search.trials > 1 else ""
    slot = f"about {_time(hours.slot)} of training one trial at a time"
    return f"{slot}{on_gpus}{early}, by {sources}"


def _time(hours: float) -> str:
    """Of hours to two digits: ``2 min 50 s``, ``3 h 12 min``."""
    return duration(float(f"{3600 * hours:.2g}"))


def _notes(planned: StudyPlan, power: StudyPower, machine: Sequence[str]) -> Iterator[str]:
    """What must be known before the run: training, what is missing, and warnings."""
    yield training_note(planned)
    yield from network_notes(planned.study)
    if planned.study.search.population > 1:
        yield population_note(planned)
    yield from planned.missing
    yield from machine
    yield from plan_warnings(planned.study)
    leaking = [item.label for item in planned.study.protocols if item.leaks]
    if leaking:
        yield (
            f"Leak: {', '.join(leaking)} scores searches on the test classes. Its results are "
            "marked so and are only to be compared with."
        )
    yield from _budget_notes(planned)
    if warning := _validation_warning(planned, power):
        yield warning
    if (expected := planned.study.expect) is not None:
        yield f"Expected: {_expected(expected, metric_of(planned.study.datasets))}"
    if summary := summarise_differences(planned.fairness.disparities):
        yield f"Not equal between the losses: {summary}."


def population_note(planned: StudyPlan) -> str:
    """How many heads are trained together, and which searches train every trial alone."""
    study = planned.study
    found = [(item.search.loss, why_search_alone(study, item.search)) for item in planned.searches]
    alone = "; ".join(sorted({f"{loss}, since {why}" for loss, why in found if why is not None}))
    num_together = sum(why is None for _, why in found)
    if not num_together:
        return f"Populations: none, every trial is trained alone: {alone}."
    return (
        f"Populations: up to {study.search.population} trials of a search are trained together, in"
        f" {num_together} of {_searches(len(found))}; finals alone."
        f"{f' Alone: {alone}.' if alone else ''}"
    )


def _budget_notes(planned: StudyPlan) -> Iterator[str]:
    """A sentence for each limit; none without a budget."""
    limits, hours, trials = planned.study.budget, planned.hours, planned.study.search.trials
    if limits.trials is not None:
        of = f" of {planned.wanted_trials}" if trials < planned.wanted_trials else ""
        yield (
            f"Budget: {limits.trials} trials leave each of {_searches(len(planned.searches))} "
            f"{trials}{of}, finals and baselines kept back."
        )
    if limits.gpu_hours is not None:
        needed = "an unknown time" if hours is None else f"about {_time(hours.gpu)}"
        yield f"Budget: {limits.gpu_hours:g} GPU-hours, of which all trials take {needed}."
    if limits.wall_hours is not None:
        fit = 0.0 if hours is None else max(1.0, hours.slot / limits.wall_hours)
        at_a_time = f" With {fit:.2g} trials at a time all fit in." if fit else ""
        yield f"Budget: {limits.wall_hours:g} hours of all runs.{at_a_time}"


def _validation_warning(planned: StudyPlan, power: StudyPower) -> str | None:
    """Data sets whose validation part is too small for the difference sought; None without any."""
    plans = {(item.dataset, item.protocol): item for item in planned.datasets}
    small: dict[int, list[str]] = {}
    for item in power.datasets:
        if item.least_significant_difference > power.difference:
            plan = plans[item.dataset, item.protocol]
            there = plan.train_classes + plan.val_classes
            needed = item.classes_needed or item.classes_needed_alone
            text = f"{item.dataset} has {item.val_classes} of {there} training classes"
            small.setdefault(needed, []).append(text)
    if not small:
        return None
    takes = "; ".join(
        f"about {number:,} ({has[0]}{f', and {len(has) - 1} more' if has[1:] else ''})"
        for number, has in small.items()
    )
    text = (
        "Warning: validation is too small to distinguish configs that differ by "
        f"{points(power.difference)}. Classes it takes: {takes}"
    )
    hidden = least_significant_difference(power.assumptions.seed_std)
    if hidden >= power.difference:
        text += f". Besides, the noise of seeds alone hides differences below {hidden:.1f}"
    return f"{text}."


def _expected(expected: Expected, metric: str) -> str:
    """How many published values the results are compared with, and which ones are left out."""
    ranks = f" and {counted(len(expected.ranks), 'average rank')}" if expected.ranks else ""
    elsewhere = expected.num_elsewhere
    rest = f"; {counted(elsewhere, 'further value')} there not" if elsewhere else ""
    covered = counted(len(expected.values), "published value")
    text = f"the study covers {covered}{ranks} of {expected.source}{rest}."
    impossible = expected.impossible(metric)
    if not impossible:
        return text
    cells = dict.fromkeys(f"{it.loss} in {it.block}" for it in impossible)
    return (
        f"{text} Recall cannot fall as K grows, as it does in {counted(len(impossible), 'value')}"
        f" of {'; '.join(cells)}: these are compared with nothing."
    )
