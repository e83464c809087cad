"""``podium ls [STORAGE]``: the studies of a storage."""

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.results.storage.printable_text import one_line
from podium.arguments.study_argument import DEFAULT_STORAGE, GivenPlace, given_place
from podium.errors import PodiumError
from podium.terminal.fitting_table import fitted_text, terminal_width
from podium.terminal.printing import (
    AsCsv,
    AsJson,
    bytes_text,
    minute_text,
    print_table,
    say,
)

if TYPE_CHECKING:
    from orchestrator.results_tools.stored_studies import StoredStudy

_COLUMNS = ("study", "state", "trials", "hours", "GPU-hours", "size", "changed")
_WORTH = ("study", "state", "trials", "changed", "size", "GPU-hours", "hours")
_NUM_KEPT = 3
_SORTS = ("name", "state", "trials", "size", "changed")


def command(
    storage: Annotated[
        GivenPlace | None,
        typer.Argument(
            metavar="STORAGE",
            parser=given_place,
            help="A folder of studies, or its URI; default: podium-results.",
        ),
    ] = None,
    sort: Annotated[
        str, typer.Option(metavar="COLUMN", help=f"One of {', '.join(_SORTS)}.")
    ] = "name",
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """List the studies of a storage: state, trials done of those planned, size, last change.

    Folders that are damaged or not podium's are named too. No trial is read. JSON and CSV have
    sizes in bytes, times in UTC, and all columns.
    """
    from orchestrator.results_tools.stored_studies import stored_studies

    if sort not in _SORTS:
        raise PodiumError(f"--sort must be one of {', '.join(_SORTS)}; got {sort}")
    place = DEFAULT_STORAGE if storage is None else storage
    if isinstance(place, Path) and not place.is_dir():
        raise PodiumError(f"STORAGE must be a folder of studies; got {place}, which is none")
    found = _sorted(stored_studies(place), sort)
    if as_json or as_csv:
        print_table([_record(study) for study in found], as_json=as_json, as_csv=as_csv)
        return
    rows = [_row(study) for study in found]
    columns = [name for name in _COLUMNS if name != "GPU-hours" or any(row[name] for row in rows)]
    worth = [name for name in _WORTH if name in columns]
    say(fitted_text(rows, columns=columns, worth=worth, num_kept=_NUM_KEPT))
    for study in found:
        if study.problem is not None:
            line = one_line(f"{study.folder.name}: {study.state}: {study.problem}")
            say(textwrap.fill(line, terminal_width(), break_on_hyphens=False))


def _sorted(found: list["StoredStudy"], sort: str) -> list["StoredStudy"]:
    """By name, or by another column: texts upwards, numbers and times downwards."""
    if sort == "state":
        return sorted(found, key=lambda study: study.state)
    if sort == "trials":
        return sorted(found, key=lambda study: -(study.trials or 0))
    if sort == "size":
        return sorted(found, key=lambda study: -(study.num_bytes or 0))
    if sort == "changed":
        return sorted(
            found, key=lambda study: -(study.changed_at.timestamp() if study.changed_at else 0.0)
        )
    return found


def _row(study: "StoredStudy") -> dict[str, object]:
    where = f" on {study.running_on}" if study.running_on else ""
    return {
        "study": study.folder.name,
        "state": f"{study.state}{where}",
        "trials": "-" if study.trials is None else f"{study.trials}/{study.planned}",
        "hours": study.trial_hours and round(study.trial_hours, 1),
        "GPU-hours": study.gpu_hours and round(study.gpu_hours, 1),
        "size": bytes_text(study.num_bytes),
        "changed": minute_text(study.changed_at),
    }


def _record(study: "StoredStudy") -> dict[str, object]:
    return {
        "study": study.folder.name,
        "folder": str(study.folder),
        "state": study.state,
        "running_on": study.running_on,
        "trials": study.trials,
        "planned": study.planned,
        "failed": study.failed,
        "trial_hours": study.trial_hours,
        "gpu_hours": study.gpu_hours,
        "bytes": study.num_bytes,
        "changed_at": None if study.changed_at is None else study.changed_at.isoformat(),
        "problem": study.problem,
    }
