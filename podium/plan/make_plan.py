"""A plan as one frozen value: what a study will do and cost, and what it can show."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from orchestrator.planning.cost_tables import own_costs, shipped_costs
from orchestrator.planning.image_cost import ImageCost
from orchestrator.planning.study_hours import EpochCost
from orchestrator.planning.study_plan import StudyPlan, plan
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import exists
from orchestrator.results.storage.locations import Place
from orchestrator.study.resource_demand import most_demand
from orchestrator.study.study import Study
from podium.errors import PodiumError
from podium.plan.hours_text import hours_record
from podium.plan.plan_text import search_rows
from podium.plan.primary_test import verdict_record
from podium.plan.statistical_power import (
    StudyPower,
    assumptions_from,
    like_note,
    measured_in,
    study_power,
)
from podium.plan.training_text import block_records

if TYPE_CHECKING:
    from podium.plan.measured_epoch import MeasuredEpoch


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What `podium plan` shows; `podium.plan.plan_text.plan_text` puts it into words.

    Attributes:
        counts: searches, trials, epochs, splits, hours and budget.
        power: differences that the study can detect, and what its searches find.
        refusal: why `podium run` would refuse the results folder or the code that is there now;
            None if it would not.
        packing: advice on how many trials fit a GPU, by the memory of earlier trials.
        measured: assumptions by name, measured in the results of an earlier study; None if none
            was named.
        like_note: which assumptions were measured there and which were not; empty likewise.
        measured_epoch: cost of the first epoch; None if it was not trained.
        notes: sentences on what could not be read.
    """

    counts: StudyPlan
    power: StudyPower
    refusal: str | None = None
    packing: tuple[str, ...] = ()
    measured: Mapping[str, float] | None = None
    like_note: str = ""
    measured_epoch: "MeasuredEpoch | None" = None
    notes: tuple[str, ...] = ()


def make_plan(
    study: Study,
    folder: Place,
    *,
    difference: float = 1.0,
    assume: Sequence[str] = (),
    like: Place | None = None,
    with_probe: bool = False,
) -> Plan:
    """Count what a study will do, and compute what it can show. Stores nothing.

    Args:
        study: the resolved study.
        folder: its results folder, which need not exist; hours are by the trials in it.
        difference: difference of Recall@1 that should be found, in points, above 0 and below 100.
        assume: ``KEY=VALUE`` for what is assumed of scores (`Assumptions`).
        like: results folder of an earlier study whose measured values are assumed; None for none.
        with_probe: whether to train one epoch of the first config, to estimate hours.

    Raises:
        PodiumError: an assumption or the difference is out of range, or results cannot be read.
        TrialInputError: a probe lacks data or weights.
    """
    paths = StudyPaths(folder)
    has_results = exists(paths.study)
    costs, notes = _known_costs()
    count = partial(plan, study, epoch_cost=_epoch_cost(paths) if has_results else None)
    counts = count(known=costs)
    measured = None if like is None else measured_in(like)
    power = study_power(counts, assumptions_from(assume, measured), difference)
    measured_epoch = None
    if with_probe:
        from podium.plan.measured_epoch import measure_epoch

        measured_epoch = measure_epoch(study, counts)
        counts = count(known=(measured_epoch.image_cost, *costs))
    note = ""
    if like is not None and measured is not None:
        note = like_note(like, measured, asdict(power.assumptions))
    return Plan(
        counts=counts,
        power=power,
        refusal=_refusal(study, paths) if has_results else None,
        packing=_packing(study, folder) if has_results else (),
        measured=measured,
        like_note=note,
        measured_epoch=measured_epoch,
        notes=notes,
    )


def plan_record(found: Plan) -> dict[str, Any]:
    """A plan as plain values; searches and blocks by name."""
    planned = found.counts
    study, cost = planned.study, planned.epoch_cost
    verdict = verdict_record(planned)
    return {
        "study": study.name,
        "blocks": [block.label for block in planned.blocks],
        "trainings": block_records(planned),
        "losses": study.loss_names,
        "searches": list(search_rows(planned)),
        "datasets": list(map(asdict, planned.datasets)),
        "stages": {name: asdict(stage) for name, stage in planned.stages.items()},
        "trials": planned.trials,
        "epochs": planned.epochs,
        "tournament": verdict["tournament"],
        "expect": asdict(study.expect) if study.expect else None,
        "fairness": asdict(planned.fairness),
        "leakage": asdict(planned.leakage),
        "missing": planned.missing,
        "seeds": study.final.seeds,
        "epoch_cost": asdict(cost) if cost else None,
        **hours_record(planned),
        "budget": asdict(planned.budget),
        "disk": {**asdict(planned.disk), "results": planned.disk.results},
        "smallest_p": verdict["smallest_p"],
        "power": asdict(found.power),
        "probe": found.measured_epoch and asdict(found.measured_epoch),
        "measured": found.measured,
        "refusal": found.refusal,
    }


def _known_costs() -> tuple[tuple[ImageCost, ...], tuple[str, ...]]:
    """What images cost earlier runs here and where podium was measured, and what went wrong."""
    try:
        return (*own_costs(), *shipped_costs()), ()
    except PodiumError as error:
        return shipped_costs(), (str(error),)


def _epoch_cost(paths: StudyPaths) -> EpochCost | None:
    """Seconds of an epoch so far, evaluation included; None before the first trial is done."""
    import numpy as np

    from orchestrator.results.trial_files.compaction_manifest import take_inventory
    from orchestrator.results.trial_files.parquet_file import read_column

    per_epoch = [
        seconds / epochs
        for file in take_inventory(paths).files
        for seconds, epochs in zip(
            read_column(file, "seconds"), read_column(file, "epochs_run"), strict=True
        )
        if seconds is not None and epochs
    ]
    if not per_epoch:
        return None
    low, median, high = (float(value) for value in np.quantile(per_epoch, (0.1, 0.5, 0.9)))
    return EpochCost(low=low, median=median, high=high, trials=len(per_epoch))


def _refusal(study: Study, paths: StudyPaths) -> str | None:
    """Why podium run would refuse the results folder, or the code that is there now; or None."""
    from orchestrator.results.records.study_snapshot import check_readable
    from orchestrator.run.study_code import refuse_changed_code, with_recorded_code

    try:
        check_readable(paths, study.name)
        refuse_changed_code(with_recorded_code(study, paths), paths)
    except PodiumError as error:
        return str(error)
    return None


def _packing(study: Study, folder: Place) -> tuple[str, ...]:
    """Advice where trials occupy GPUs; no other study needs polars for its plan."""
    if not most_demand(study).gpus:
        return ()
    from orchestrator.planning.gpu_packing import packing_advice
    from orchestrator.results.trial_files.reader import Reader

    return tuple(map(str, packing_advice(study, Reader(folder))))
