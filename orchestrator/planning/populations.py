"""Which searches of a study train their trials together."""

from podium.orchestrator.study.blocks import dataset_of, protocol_of
from podium.orchestrator.study.configs import training_of
from podium.orchestrator.study.study import Search, Study
from podium.trainables.settings.population_agreement import why_alone
from podium.trainables.settings.trial_settings import TrialSettings


def why_search_alone(study: Study, search: Search) -> str | None:
    """Why trials of a search cannot be trained together, as a clause; None if they can.

    That some can does not say that all go into one population: those that differ in other than
    real numbers are in different ones. How many there may be is not asked.
    """
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
