"""The statistical power of a plan, as a table and sentences."""

from collections.abc import Iterator

from analysis.estimates.design_analysis import least_significant_difference
from orchestrator.planning.study_plan import StudyPlan
from podium.plan.primary_test import planned_units
from podium.plan.statistical_power import StudyPower


def power_rows(power: StudyPower) -> list[dict[str, object]]:
    """One row for each data set that is retrieved by class, and protocol that does not leak."""
    protocols = {item.protocol for item in power.datasets}
    return [
        {
            "data set": item.dataset,
            **({"protocol": item.protocol} if len(protocols) > 1 else {}),
            "s.e.": f"{item.standard_error:.1f}",
            "significant": f"{item.least_significant_difference:.1f}",
            "better wins": f"{item.better_wins:.0%}",
            f"best of {power.search_trials}": f"{item.best:.0%}",
            "regret": f"{item.regret:.1f}",
            "optimism": f"{item.optimism:.1f}",
        }
        for item in power.datasets
    ]


def power_notes(planned: StudyPlan, power: StudyPower) -> Iterator[str]:
    """How the table reads, and the power of the finals; nothing without Recall@1."""
    if not power.datasets:
        return
    assumed, sought = power.assumptions, _points(power.difference)
    yield (
        "Validation, in points of R@1: one standard error, as queries of a class are correlated; "
        "from which difference on two configs differ significantly, and how often the truly "
        f"better of two {sought} apart scores higher. Search: how often it picks its best config, "
        "its expected regret, and the optimism of the score of its pick. Assumed: R@1 of "
        f"{assumed.recall:g} %, true scores of configs spread by {assumed.spread:g} "
        "(--assume spread=...; all of it in docs/explanation/statistics/before-a-study.md)."
    )
    yield f"Finals: {_finals(planned, power, sought)}"


def power_warnings(planned: StudyPlan, power: StudyPower) -> Iterator[str]:
    """Data sets whose validation part is too small for the difference sought."""
    plans = {(item.dataset, item.protocol): item for item in planned.datasets}
    are_several = len({item.protocol for item in planned.datasets}) > 1
    small: dict[int, list[str]] = {}
    for item in power.datasets:
        if item.least_significant_difference > power.difference:
            needed = item.classes_needed or item.classes_needed_alone
            plan = plans[item.dataset, item.protocol]
            there = plan.train_classes + plan.val_classes
            under = f" under {item.protocol}" if are_several else ""
            text = f"{item.dataset} has {item.val_classes} of {there} training classes{under}"
            small.setdefault(needed, []).append(text)
    if not small:
        return
    takes = "; ".join(f"about {number:,} ({', '.join(has)})" for number, has in small.items())
    text = (
        "Warning: validation is too small to distinguish configs that differ by "
        f"{_points(power.difference)}. Classes it takes: {takes}"
    )
    hidden = least_significant_difference(power.assumptions.seed_std)
    if hidden >= power.difference:
        text += f". Besides, the noise of seeds alone hides differences below {hidden:.1f}"
    yield f"{text}."


def _finals(planned: StudyPlan, power: StudyPower, sought: str) -> str:
    assumed, units = power.assumptions, planned_units(planned)
    share = f", {assumed.block_correlation:g} of their variance in common within a group"
    alike = share if units.noun == "group" else ""
    parts = []
    if power.gain is None:
        parts.append("one seed shows no gain of tuning beyond chance")
    else:
        parts.append(
            f"over {power.seeds} seeds a gain of {_points(power.gain)} on test is found in 4 of 5 "
            f"cases{_needed(power.seeds_needed, power.seeds, 'seeds', sought)}"
        )
    if power.loss_gap is not None:
        parts.append(
            f"over {units.counted} a gap of {_points(power.loss_gap)} between two losses"
            f"{_needed(power.units_needed, power.units, f'{units.noun}s', sought)}"
        )
    return (
        f"{'; '.join(parts)} (t tests at 5 %, before Holm; seeds scatter by "
        f"{assumed.seed_std:g}, gaps by {assumed.block_std:g} between blocks{alike})."
    )


def _needed(needed: int | None, there: int, noun: str, sought: str) -> str:
    if needed is None:
        return f", {sought} by no affordable number of {noun}"
    return f", {sought} takes {needed} {noun}" if needed > there else ""


def _points(value: float) -> str:
    text = f"{value:.2g}" if value < 10 else f"{value:.0f}"
    return f"{text} point" if text == "1" else f"{text} points"
