"""What the test of a study counts as independent, and whether it can find a difference."""

from podium.analysis.hypothesis_tests.sign_flip_test import fewest_units
from podium.analysis.tournament.block_groups import Units, block_units, run_units
from podium.orchestrator.planning.study_plan import StudyPlan


def verdict_line(planned: StudyPlan) -> str:
    """Whether the study can show a difference, and of what it speaks."""
    if len(planned.study.losses) < 2:
        return "none: with one loss there is nothing to compare"
    units, alpha = planned_units(planned), planned.study.tournament.alpha
    if units.why_untested:
        return f"a ranking without a test. {units.why_untested}"
    return (
        f"tested at {alpha:g} over {units.counted}, where the smallest p is"
        f" {smallest_p(planned):.2g}. {units.question}"
    )


def smallest_p(planned: StudyPlan) -> float | None:
    """The smallest p, adjusted, that the test can have; None without a test."""
    units = planned_units(planned)
    is_tested = len(planned.study.losses) > 1 and not units.why_untested
    return 2.0 ** (1 - units.number) if is_tested else None


def num_pairs(planned: StudyPlan) -> int:
    """How many pairs of losses the test compares."""
    losses = len(planned.study.losses)
    return losses - 1 if planned.study.tournament.against else losses * (losses - 1) // 2


def planned_units(planned: StudyPlan) -> Units:
    """What the test of the study counts as independent."""
    fewest = fewest_units(planned.study.tournament.alpha)
    if planned.study.tournament.question == "these_blocks":
        number, noun = _runs(planned)
        return run_units((number,) * len(planned.blocks), fewest, noun)
    return block_units(
        [{"dataset": block.dataset, "backbone": block.backbone} for block in planned.blocks],
        [block.label for block in planned.blocks],
        fewest,
    )


def _runs(planned: StudyPlan) -> tuple[int, str]:
    """Runs of a cell, as tournaments have them: repeats of the search, else seeds, else folds."""
    study = planned.study
    protocol = study.final.protocol or study.protocols[0]
    seeds = (study.final.seeds, "seed")
    counts = ((study.search.repeats, "repeat"), seeds, (protocol.num_folds, "fold"))
    return next((counted for counted in counts if counted[0] > 1), seeds)
