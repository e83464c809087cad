"""The primary test of a study, and whether any difference can be significant by it."""

from podium.analysis.hypothesis_tests.pairwise_comparisons import smallest_p
from podium.analysis.tournament.block_groups import block_groups
from podium.analysis.tournament.primary_test_text import needed_text
from podium.analysis.tournament.repeated_runs import IndependentUnits, RepeatedRuns
from podium.orchestrator.planning.study_plan import StudyPlan


def verdict_line(planned: StudyPlan) -> str:
    """What the study can show by its primary test, first of all whether anything."""
    rules, losses = planned.study.tournament, len(planned.study.losses)
    smallest = smallest_adjusted_p(planned)
    if smallest is None:
        return "none: with one loss there is nothing to compare"
    units = planned_units(planned)
    reach = f"the smallest p of {losses} losses over {units.counted} is {smallest:.2g}"
    if smallest <= rules.alpha:
        return f"losses can differ significantly at {rules.alpha:g}: {reach}"
    takes = needed_text(losses, rules.alpha, rules.test, units=units)
    return f"no difference can be significant at {rules.alpha:g}: {reach}. {takes}"


def smallest_adjusted_p(planned: StudyPlan) -> float | None:
    """The smallest p, adjusted, that the primary test can have; None with one loss."""
    losses = len(planned.study.losses)
    if losses < 2:
        return None
    return smallest_p(
        planned_units(planned).number, losses, planned.study.tournament.test
    ).adjusted


def planned_units(planned: StudyPlan) -> IndependentUnits:
    """What the tests of the study count as independent."""
    if planned.study.tournament.question == "these_blocks":
        return RepeatedRuns(runs_of_blocks=(_runs(planned),) * len(planned.blocks))
    return block_groups(
        [{"dataset": block.dataset, "backbone": block.backbone} for block in planned.blocks],
        [block.label for block in planned.blocks],
    )


def _runs(planned: StudyPlan) -> int:
    """Runs of a cell, as tournaments have them: repeats of the search, else seeds, else folds."""
    study = planned.study
    protocol = study.final.protocol or study.protocols[0]
    return next(
        (number for number in (study.search.repeats, study.final.seeds) if number > 1),
        protocol.num_folds,
    )
