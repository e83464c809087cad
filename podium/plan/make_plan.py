"""What a study will do and cost, whether it would be refused, and a plan as plain values."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from podium.errors import PodiumError
from podium.orchestrator.planning.block_plan import plan_warnings
from podium.orchestrator.planning.image_seconds import Source, Table, known_tables
from podium.orchestrator.planning.study_plan import StudyPlan, plan
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import exists
from podium.orchestrator.study.study import Study
from podium.plan.plan_text import search_rows
from podium.plan.primary_test import smallest_p
from podium.plan.statistical_power import StudyPower
from podium.plan.training_text import block_records
from podium.trainables.errors import TrialInputError


def planned_counts(study: Study, paths: StudyPaths) -> StudyPlan:
    """What a study will do and cost; hours are by its own trials, where it has results.

    Raises:
        PodiumError: the results cannot be read.
    """
    known: dict[Source, Table] = {}
    if exists(paths.study):
        from podium.orchestrator.planning.measured_seconds import measured_seconds
        from podium.orchestrator.results.trial_files.reader import Reader  # no other plan needs it

        known["results"] = measured_seconds(study, Reader(paths.folder))
    return plan(study, known | known_tables())


def plan_record(
    planned: StudyPlan, power: StudyPower, refusal: str | None, machine: Sequence[str]
) -> dict[str, Any]:
    """A plan as plain values; searches and blocks by name."""
    study, hours = planned.study, planned.hours
    return {
        "study": study.name,
        "blocks": [block.label for block in planned.blocks],
        "trainings": block_records(planned),
        "losses": study.loss_names,
        "searches": list(search_rows(planned)),
        "datasets": list(map(asdict, planned.datasets)),
        "stages": {
            name: {"trials": trials, "epochs": epochs}
            for name, (trials, epochs) in planned.stages.items()
        },
        "trials": planned.trials,
        "epochs": planned.epochs,
        "tournament": asdict(study.tournament),
        "expect": asdict(study.expect) if study.expect else None,
        "fairness": asdict(planned.fairness),
        "missing": planned.missing,
        "warnings": tuple(plan_warnings(study)),
        "machine": machine,
        "seeds": study.final.seeds,
        "hours": hours and hours.slot,
        "gpu_hours": hours and (hours.gpu or None),
        "hours_sources": hours.sources if hours else (),
        "budget": {
            "limits": asdict(study.budget),
            "wanted_trials": planned.wanted_trials,
            "trials_per_search": study.search.trials,
        },
        "smallest_p": smallest_p(planned),
        "power": asdict(power),
        "refusal": refusal,
    }


def refusal_of(study: Study, paths: StudyPaths) -> str | None:
    """Why podium run would refuse the results folder, or code or data as they are; None if not."""
    if not exists(paths.study):
        return None
    from podium.orchestrator.results.records.study_snapshot import check_readable
    from podium.orchestrator.run.snapshot_study import load_datasets
    from podium.orchestrator.run.study_code import refuse_changed_code, with_recorded_code

    try:
        check_readable(paths, study.name)
        refuse_changed_code(with_recorded_code(study, paths), paths)
        with suppress(TrialInputError):  # whose data are not on this machine
            load_datasets(study, paths)
    except PodiumError as error:
        return str(error)
    return None
