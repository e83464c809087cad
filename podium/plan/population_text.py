"""Which searches train their trials together, as a plan says it."""

from orchestrator.planning.populations import why_search_alone
from orchestrator.planning.study_plan import StudyPlan


def population_note(planned: StudyPlan) -> str | None:
    """How many heads are trained together, and which searches are not; None where none are to be.

    Trials of a search that differ in other than real numbers are in different populations.
    """
    study = planned.study
    if study.search.population == 1:
        return None
    found = [(item.search.loss, why_search_alone(study, item.search)) for item in planned.searches]
    reasons = {(loss, reason) for loss, reason in found if reason is not None}
    num_together = sum(reason is None for _, reason in found)
    alone = "; ".join(f"{loss}, since {reason}" for loss, reason in sorted(reasons))
    if not num_together:
        return f"Populations: none, every trial is trained alone: {alone}."
    return (
        f"Populations: up to {study.search.population} trials of a search are trained together, in"
        f" {num_together} of {len(planned.searches)} searches; finals alone."
        f"{f' Alone: {alone}.' if alone else ''}"
    )
