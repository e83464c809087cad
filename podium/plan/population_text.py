"""Which searches train their trials together, as a plan says it."""

from orchestrator.planning.study_plan import StudyPlan
from orchestrator.study.blocks import dataset_of, protocol_of
from orchestrator.study.configs import training_of
from orchestrator.study.study import Search, Study
from trainables.settings.population_agreement import why_alone
from trainables.settings.trial_settings import TrialSettings


def population_note(planned: StudyPlan) -> str | None:
    """How many heads are trained together, and which searches are not; None where none are to be.

    Trials of a search that differ in other than real numbers are in different populations.
    """
    study = planned.study
    if study.search.population == 1:
        return None
    reasons = {
        (item.search.loss, reason)
        for item in planned.searches
        if (reason := _why_alone(study, item.search)) is not None
    }
    together = [item for item in planned.searches if _why_alone(study, item.search) is None]
    alone = "; ".join(f"{loss}, since {reason}" for loss, reason in sorted(reasons))
    if not together:
        return f"Populations: none, every trial is trained alone: {alone}."
    return (
        f"Populations: up to {study.search.population} trials of a search are trained together, in"
        f" {len(together)} of {len(planned.searches)} searches; finals alone."
        f"{f' Alone: {alone}.' if alone else ''}"
    )


def _why_alone(study: Study, search: Search) -> str | None:
    block = search.block
    (backbone,) = [of for of in study.backbones if of.name == block.backbone]
    settings = TrialSettings(
        dataset=dataset_of(study, block),
        protocol=protocol_of(study, search),
        folds=(0,),
        backbone=backbone,
        embedding_dim=block.embedding_dim,
        loss=search.loss,
        hyperparameters={},
        training=training_of(study, block),
        seed=study.seed,
        evaluate_test=study.tests_searches,
    )
    return why_alone(settings)
