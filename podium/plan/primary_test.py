"""The primary test of a study, and whether any difference can be significant by it."""

from dataclasses import asdict
from typing import Any

from analysis.hypothesis_tests.pairwise_comparisons import SmallestP, smallest_p
from analysis.tournament.block_groups import block_groups
from analysis.tournament.primary_test_text import needed_text
from analysis.tournament.repeated_runs import IndependentUnits, RepeatedRuns
from orchestrator.planning.study_plan import StudyPlan


def verdict_line(planned: StudyPlan) -> str:
    """What the study can show by its primary test, first of all whether anything."""
    rules, losses = planned.study.tournament, len(planned.study.losses)
    smallest = _smallest(planned)
    if smallest is None:
        return "none: with one loss there is nothing to compare"
    units = planned_units(planned)
    reach = f"the smallest p of {losses} losses over {units.counted} is {smallest.adjusted:.2g}"
    if smallest.adjusted <= rules.alpha:
        return f"losses can differ significantly at {rules.alpha:g}: {reach}"
    takes = needed_text(losses, rules.alpha, rules.test, units=units)
    return f"no difference can be significant at {rules.alpha:g}: {reach}. {takes}"


def verdict_record(planned: StudyPlan) -> dict[str, Any]:
    """The rules and ``smallest_p`` (adjusted), which is None with one loss."""
    smallest = _smallest(planned)
    return {
        "tournament": asdict(planned.study.tournament),
        "smallest_p": None if smallest is None else smallest.adjusted,
    }


def _smallest(planned: StudyPlan) -> SmallestP | None:
    losses = len(planned.study.losses)
    if losses < 2:
        return None
    return smallest_p(planned_units(planned).number, losses, planned.study.tournament.test)


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
