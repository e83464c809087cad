"""What ``podium plan --full`` adds: tables of losses, blocks and data sets, and notes on them."""

from collections.abc import Iterator

from podium.analysis.wording import counted
from podium.orchestrator.planning.study_plan import StudyPlan
from podium.orchestrator.results.records.metric_columns import RECALL
from podium.orchestrator.study.defaults import metric_of
from podium.plan.primary_test import num_pairs, planned_units
from podium.plan.statistical_power import StudyPower
from podium.plan.training_text import block_rows, training_details
from podium.terminal.fairness_text import fairness_notes

_Rows = list[dict[str, object]]


def detail_tables(planned: StudyPlan, power: StudyPower) -> list[_Rows]:
    """Rows of the tables: losses, blocks by their training, and data sets."""
    return [_loss_rows(planned), block_rows(planned), _dataset_rows(planned, power)]


def detail_notes(planned: StudyPlan, power: StudyPower) -> Iterator[str]:
    """Paragraphs below the tables."""
    if power.datasets:
        yield _how_to_read(power)
    if metric_of(planned.study.datasets) == RECALL.name:
        yield f"Finals: {_finals(planned, power)}"
    else:
        yield "Retrieved by label distance and scored by nDCG, not by class."
    yield from training_details(planned)
    yield from fairness_notes(planned.fairness, planned.study.loss_names)


def _loss_rows(planned: StudyPlan) -> _Rows:
    rows: _Rows = []
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


def _dataset_rows(planned: StudyPlan, power: StudyPower) -> _Rows:
    """Classes and, where images are retrieved by class, what validation on them can show."""
    power_of = {(item.dataset, item.protocol): item for item in power.datasets}
    are_several = len({item.protocol for item in planned.datasets}) > 1
    rows: _Rows = []
    for item in planned.datasets:
        row: dict[str, object] = {
            "data set": item.dataset,
            **({"protocol": item.protocol} if are_several else {}),
            "classes": f"{item.train_classes}/{'test' if item.leaks else item.val_classes}/"
            f"{item.test_classes}",
        }
        found = power_of.get((item.dataset, item.protocol))
        if power_of:
            row |= {
                "s.e.": found and f"{found.standard_error:.1f}",
                "differ": found and f"{found.least_significant_difference:.1f}",
                "wins": found and f"{found.better_wins:.0%}",
                "best": found and f"{found.best:.0%}",
                "regret": found and f"{found.regret:.1f}",
                "bias": found and f"{found.optimism:.1f}",
            }
        rows.append(row)
    return rows


def _how_to_read(power: StudyPower) -> str:
    assumed = power.assumptions
    return (
        "Classes are for training, validation and test; all else is validation, in points of R@1. "
        "s.e.: standard error, as queries of a class are correlated. differ: from which "
        "difference on two configs differ significantly. wins: how often the truly better of two "
        f"{points(power.difference)} apart scores higher. best: how often a search of "
        f"{power.search_trials} trials picks its best config. regret and bias: expected loss by "
        "its pick, and optimism of the score of its pick. Assumed: R@1 of "
        f"{assumed.recall:g} %, true scores of configs spread by {assumed.spread:g} (--assume "
        "spread=...; all of it in docs/explanation/statistics/before-a-study.md)."
    )


def _finals(planned: StudyPlan, power: StudyPower) -> str:
    assumed, units, sought = power.assumptions, planned_units(planned), points(power.difference)
    asks_beyond = planned.study.tournament.question == "other_blocks"
    is_of_means = asks_beyond and units.number < len(planned.blocks)
    share = f", {assumed.block_correlation:g} of their variance in common within a {units.noun}"
    alike = share if is_of_means else ""
    parts = []
    if power.gain is None:
        parts.append("one seed shows no gain of tuning beyond chance")
    else:
        parts.append(
            f"over {power.seeds} seeds a gain of {points(power.gain)} on test is found in 4 of 5 "
            f"cases{_needed(power.seeds_needed, power.seeds, 'seeds', sought)}"
        )
    if power.power:
        shares = ", ".join(f"{points(gap)} in {share:.0%}" for gap, share in power.power.items())
        pairs = counted(num_pairs(planned), "pair")
        parts.append(
            f"the test of {pairs} over {units.counted} finds a gap of two losses of {shares} of"
            " studies"
        )
    return (
        f"{'; '.join(parts)} (gains by t tests at 5 %; seeds scatter by {assumed.seed_std:g}, gaps"
        f" by {assumed.block_std:g} between settings{alike})."
    )


def _needed(needed: int | None, there: int, noun: str, sought: str) -> str:
    if needed is None:
        return f", {sought} by no affordable number of {noun}"
    return f", {sought} takes {needed} {noun}" if needed > there else ""


def points(value: float) -> str:
    """``1 point``, ``2.3 points``."""
    text = f"{value:.2g}" if value < 10 else f"{value:.0f}"
    return f"{text} point" if text == "1" else f"{text} points"
