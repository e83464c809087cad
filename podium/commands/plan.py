"""``podium plan STUDY``: what a study will do and cost."""

import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.planning.cost_tables import own_costs, shipped_costs
from orchestrator.planning.image_cost import ImageCost
from orchestrator.planning.study_hours import EpochCost
from orchestrator.planning.study_plan import StudyPlan, plan
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import exists
from orchestrator.results.storage.locations import Place, RemotePath
from orchestrator.study.study import Study
from podium.arguments.shipped_files import or_shipped
from podium.arguments.study_argument import (
    GivenPlace,
    Overrides,
    StorageFolder,
    StudyPath,
    given_place,
)
from podium.errors import PodiumError
from podium.plan.hours_text import hours_record
from podium.plan.plan_text import block_records, plan_text, search_rows
from podium.plan.primary_test import verdict_record
from podium.plan.statistical_power import (
    StudyPower,
    assumptions_from,
    like_note,
    measured_in,
    study_power,
)
from podium.plan.sweep_text import sweep_records
from podium.terminal.printing import AsCsv, AsJson, print_json, print_table, say

if TYPE_CHECKING:
    from orchestrator.planning.gpu_packing import PackingAdvice
    from podium.plan.measured_epoch import MeasuredEpoch

_WIDTH = 80


def command(
    study: StudyPath,
    storage: StorageFolder = None,
    overrides: Overrides = None,
    difference: Annotated[
        float, typer.Option(metavar="POINTS", help="Difference of Recall@1 that should be found.")
    ] = 1.0,
    assume: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Change what is assumed, such as spread=4. Repeatable. See"
            " docs/explanation/statistics/before-a-study.md.",
        ),
    ] = None,
    like: Annotated[
        GivenPlace | None,
        typer.Option(
            metavar="RESULTS",
            parser=given_place,
            help="Assume what an earlier results folder measured instead.",
        ),
    ] = None,
    with_probe: Annotated[
        bool,
        typer.Option("--probe", help="Train one epoch of the first config to estimate the cost."),
    ] = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show what a study will do and cost, and what it can show. Stores nothing.

    Hours are estimated by the study's own results; before there are any, by --probe, by earlier
    runs from this machine, or by figures that podium ships. --csv prints one line for each search.
    """
    resolved, folder = _study_and_folder(study, storage, overrides or [])
    epoch_cost, known = _epoch_cost(folder), _known_costs()
    planned = plan(resolved, epoch_cost=epoch_cost, known=known)
    refusal = None if folder == study else _refusal(resolved, StudyPaths(folder))
    measured = None if like is None else measured_in(like)
    power = study_power(planned, assumptions_from(assume or [], measured), difference)
    measured_epoch = None
    if with_probe:
        from podium.plan.measured_epoch import measure_epoch

        measured_epoch = measure_epoch(resolved, planned)
        known = (measured_epoch.image_cost, *known)
        planned = plan(resolved, epoch_cost=epoch_cost, known=known)
    if as_json:
        record = _record(planned, power, measured_epoch)
        print_json({**record, "measured": measured, "refusal": refusal})
    elif as_csv:
        print_table(search_rows(planned), as_csv=True)
    else:
        say(plan_text(planned, power, measured_epoch))
        if refusal is not None:
            say(f"\npodium run would be refused: {refusal}")
        for advice in _packing(resolved, folder):
            say("\n" + textwrap.fill(f"Packing: {advice}", _WIDTH, break_on_hyphens=False))
        if like is not None and measured is not None:
            note = like_note(like, measured, asdict(power.assumptions))
            say("\n" + textwrap.fill(note, _WIDTH, break_on_hyphens=False))


def _study_and_folder(
    study: Place, storage: Place | None, overrides: list[str]
) -> tuple[Study, Place]:
    """The resolved study, and where its results are or will be."""
    if isinstance(study, RemotePath) or study.is_dir():
        if storage is not None or overrides:
            raise PodiumError(
                f"--storage and --set go with a study file; {study} is a results folder"
            )
        from orchestrator.results.trial_files.reader import Reader
        from orchestrator.study.resolved_study import study_from_resolved

        return study_from_resolved(Reader(study).study()), study
    from orchestrator.study_validation.load_study import load_study

    resolved = load_study(or_shipped(study), overrides)
    return resolved, StudyPaths.in_storage(storage or resolved.storage, resolved.name).folder


def _refusal(study: Study, paths: StudyPaths) -> str | None:
    """Why podium run would refuse the results folder, or the code that is there now; or None."""
    if not exists(paths.study):
        return None
    from orchestrator.run.snapshot_study import check_readable
    from orchestrator.run.study_code import refuse_changed_code, with_recorded_code

    try:
        check_readable(study, paths)
        refuse_changed_code(with_recorded_code(study, paths), paths)
    except PodiumError as error:
        return str(error)
    return None


def _packing(study: Study, folder: Place) -> "list[PackingAdvice]":
    if not exists(StudyPaths(folder).study):
        return []
    from orchestrator.planning.gpu_packing import packing_advice
    from orchestrator.results.trial_files.reader import Reader

    return packing_advice(study, Reader(folder))


def _epoch_cost(folder: Place) -> EpochCost | None:
    """Seconds of an epoch so far, evaluation included; None before the first trial is done."""
    if not exists(StudyPaths(folder).study):
        return None
    import polars as pl

    from orchestrator.results.trial_files.reader import Reader

    per_epoch = pl.col("seconds") / pl.col("epochs_run")
    low, median, high, trials = (
        Reader(folder)
        .trials()
        .filter(pl.col("epochs_run") > 0)
        .select(
            per_epoch.quantile(0.1, "linear").alias("low"),
            per_epoch.median().alias("median"),
            per_epoch.quantile(0.9, "linear").alias("high"),
            per_epoch.count().alias("trials"),
        )
        .collect()
        .row(0)
    )
    return EpochCost(low=low, median=median, high=high, trials=trials) if trials else None


def _known_costs() -> tuple[ImageCost, ...]:
    """What images cost earlier runs from this machine and where podium was measured."""
    try:
        return (*own_costs(), *shipped_costs())
    except PodiumError as error:
        say(f"note: {error}", err=True)
        return shipped_costs()


def _record(
    planned: StudyPlan, power: StudyPower, measured_epoch: "MeasuredEpoch | None"
) -> dict[str, object]:
    """The plan as plain values; searches and blocks by name."""
    study, cost = planned.study, planned.epoch_cost
    verdict = verdict_record(planned)
    return {
        "study": study.name,
        "blocks": [block.label for block in planned.blocks],
        "trainings": block_records(planned),
        "losses": study.loss_names,
        "searches": list(search_rows(planned)),
        "sweeps": sweep_records(planned.sweeps),
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
        "smallest_p": verdict["smallest_p"],
        "power": asdict(power),
        "probe": measured_epoch and asdict(measured_epoch),
    }
