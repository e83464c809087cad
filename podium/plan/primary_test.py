"""The primary test of a study, and whether any difference can be significant by it."""

from dataclasses import asdict
from typing import Any

from analysis.hypothesis_tests.pairwise_comparisons import SmallestP, smallest_p
from analysis.tournament.primary_test_text import METHODS, needed_text
from orchestrator.planning.study_plan import StudyPlan


def verdict_note(planned: StudyPlan) -> str:
    """The primary test and the smallest p it can give, in a sentence or two."""
    rules, num_blocks = planned.study.tournament, len(planned.blocks)
    losses = len(planned.study.losses)
    smallest = _smallest(planned)
    if smallest is None:
        return "with one loss there is nothing to compare."
    blocks = f"{num_blocks} block{'' if num_blocks == 1 else 's'}"
    text = (
        f"losses will be called significantly different by the primary test "
        f"({METHODS[rules.test]}) at {rules.alpha:g}; with {blocks} and {losses} losses the "
        f"smallest p of a pair is "
        f"{smallest.adjusted:.2g}"
    )
    if smallest.adjusted <= rules.alpha:
        return f"{text}."
    takes = needed_text(losses, rules.alpha, rules.test)
    return f"{text}: no difference can be significant. {takes}"


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
    return smallest_p(len(planned.blocks), losses, planned.study.tournament.test)
