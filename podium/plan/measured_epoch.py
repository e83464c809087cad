"""One measured epoch, to estimate what a study costs before it runs. Nothing is stored."""

from dataclasses import dataclass, replace

from orchestrator.ids_and_seeds import draw_of_config, seed_for
from orchestrator.planning.image_cost import ImageCost, conditions_of
from orchestrator.planning.image_counts import images_of
from orchestrator.planning.study_plan import StudyPlan
from orchestrator.study.blocks import dataset_of, protocol_of
from orchestrator.study.budget import SECONDS_PER_HOUR
from orchestrator.study.configs import default_config, training_of
from orchestrator.study.dataset_facts import dataset_facts
from orchestrator.study.resource_demand import demand_of
from orchestrator.study.study import Study
from trainables.settings.trial_settings import TrialSettings
from trainables.trial_reports import EpochReport

# The least that later epochs take, by the first one, in which libraries load.
_LATER_EPOCHS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredEpoch:
    """Cost of the first epoch of a study's first config.

    Attributes:
        block: label of the study's first block.
        loss: name of the study's first loss, trained with the first config of its search.
        device: type of the device that it ran on, ``cpu`` or ``cuda``.
        seconds: duration of the epoch with validation, without loading of data. The first is
            often the slowest.
        peak_memory_mb: peak memory in MB, as trials record it.
        hours_of_block: hours of all epochs of that block at this cost.
        hours: hours of all epochs of the study at this cost.
        image_cost: what an image of that block costs by this epoch.
    """

    block: str
    loss: str
    device: str
    seconds: float
    peak_memory_mb: float
    hours_of_block: float
    hours: float
    image_cost: ImageCost


def measure_epoch(study: Study, planned: StudyPlan) -> MeasuredEpoch:
    """Train one epoch in this process.

    Raises:
        TrialInputError: data or weights are missing, or do not fit the study.
        Diverged, Collapsed: the training failed in its first epoch.
    """
    from trainables.device import trial_device
    from trainables.trial.run_trial import run_trial

    search = planned.searches[0].search
    block, loss, protocol = search.block, search.loss, protocol_of(study, search)
    (backbone,) = (item for item in study.backbones if item.name == block.backbone)
    config, seed = default_config(study, block, loss), seed_for(study.seed, "search", 0, 0)
    settings = TrialSettings(
        dataset=dataset_of(study, block),
        protocol=protocol,
        folds=(0,),
        backbone=backbone,
        embedding_dim=block.embedding_dim,
        image_size=block.image_size,
        loss=loss,
        hyperparameters=config,
        training=training_of(study, block),
        seed=seed,
        ks=study.ks,
        draw=draw_of_config(protocol, config),
        evaluate_test=False,
        num_threads=max(1, int(demand_of(study, block).cpus)),
    )
    reports = run_trial(settings)
    first = next(item for item in reports if isinstance(item, EpochReport) and item.epoch > 0)
    of_block = sum(item.epochs for item in planned.searches if item.search.block == block)
    return MeasuredEpoch(
        block=block.label,
        loss=loss,
        device=trial_device().type,
        seconds=first.seconds,
        peak_memory_mb=first.peak_memory_mb,
        hours_of_block=of_block * first.seconds / SECONDS_PER_HOUR,
        hours=planned.epochs * first.seconds / SECONDS_PER_HOUR,
        image_cost=_image_cost(study, planned, first.seconds, trial_device().type),
    )


def _image_cost(study: Study, planned: StudyPlan, seconds: float, device: str) -> ImageCost:
    search = planned.searches[0].search
    facts = dataset_facts(dataset_of(study, search.block))
    of_image = seconds / images_of(facts, protocol_of(study, search)).per_epoch
    conditions = conditions_of(study, search.block, "gpu" if device == "cuda" else "cpu")
    if device == "cuda":
        conditions = replace(conditions, share=1.0)  # no other trial was there
    return ImageCost(
        conditions=conditions,
        low=of_image * _LATER_EPOCHS,
        median=of_image,
        high=of_image,
        tested=None,
        trials=1,
        source="probe",
    )
