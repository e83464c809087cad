"""A plan as one frozen value: what a study will do and cost, and what it can show."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from orchestrator.planning.image_seconds import Source, Table, known_tables
from orchestrator.planning.study_plan import StudyPlan, plan
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import exists
from orchestrator.results.storage.locations import Place
from orchestrator.study.study import Study
from podium.errors import PodiumError
from podium.plan.plan_text import search_rows
from podium.plan.primary_test import smallest_adjusted_p
from podium.plan.statistical_power import StudyPower, assumptions_from, study_power
from podium.plan.training_text import block_records
from trainables.errors import TrialInputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What `podium plan` shows; `podium.plan.plan_text.plan_text` puts it into words.

    Attributes:
        counts: searches, trials, epochs, splits, hours and budget.
        power: differences that the study can detect, and what its searches find.
        refusal: why `podium run` would refuse the results folder, or code or data as they are now;
            None if it would not.
    """

    counts: StudyPlan
    power: StudyPower
    refusal: str | None = None


def make_plan(
    study: Study,
    folder: Place,
    *,
    difference: float = 1.0,
    assume: Sequence[str] = (),
) -> Plan:
    """Count what a study will do, and compute what it can show. Stores nothing.

    Args:
        study: the resolved study.
        folder: its results folder, which need not exist; hours are by the trials in it.
        difference: difference of Recall@1 that should be found, in points, above 0 and below 100.
        assume: ``KEY=VALUE`` for what is assumed of scores (`Assumptions`).

    Raises:
        PodiumError: an assumption or the difference is out of range, or results cannot be read.
    """
    paths = StudyPaths(folder)
    has_results = exists(paths.study)
    known: dict[Source, Table] = {"results": _own_seconds(study, folder)} if has_results else {}
    counts = plan(study, known | known_tables())
    return Plan(
        counts=counts,
        power=study_power(counts, assumptions_from(assume), difference),
        refusal=_refusal(study, paths) if has_results else None,
    )


def plan_record(found: Plan) -> dict[str, Any]:
    """A plan as plain values; searches and blocks by name."""
    planned = found.counts
    study, hours = planned.study, planned.hours
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
        "tournament": asdict(study.tournament),
        "expect": asdict(study.expect) if study.expect else None,
        "fairness": asdict(planned.fairness),
        "missing": planned.missing,
        "seeds": study.final.seeds,
        "hours": hours and hours.slot,
        "gpu_hours": hours and (hours.gpu or None),
        "hours_sources": hours.sources if hours else (),
        "budget": {
            "limits": asdict(study.budget),
            "wanted_trials": planned.wanted_trials,
            "trials_per_search": study.search.trials,
        },
        "smallest_p": smallest_adjusted_p(planned),
        "power": asdict(found.power),
        "refusal": found.refusal,
    }


def _own_seconds(study: Study, folder: Place) -> Table:
    """What images took the study so far; no other plan needs polars."""
    from orchestrator.planning.measured_seconds import measured_seconds
    from orchestrator.results.trial_files.reader import Reader

    return measured_seconds(study, Reader(folder))


def _refusal(study: Study, paths: StudyPaths) -> str | None:
    """Why podium run would refuse the results folder, or what is there now of code and data."""
    from orchestrator.results.records.study_snapshot import check_readable
    from orchestrator.run.snapshot_study import load_datasets
    from orchestrator.run.study_code import refuse_changed_code, with_recorded_code

    try:
        check_readable(paths, study.name)
        refuse_changed_code(with_recorded_code(study, paths), paths)
        with suppress(TrialInputError):  # whose data are not on this machine
            load_datasets(study, paths)
    except PodiumError as error:
        return str(error)
    return None
