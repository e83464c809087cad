"""``podium status``: how far each search of a study is, or which studies a storage holds."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.analysis.wording import duration
from podium.api.answer import print_answer
from podium.api.results import Results
from podium.arguments.study_argument import (
    DEFAULT_STORAGE,
    OptionalStudyPath,
    StorageFolder,
    results_folder,
)
from podium.errors import PodiumError
from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.results.storage.printable_text import one_line
from podium.terminal.fitting_table import fitted_text, terminal_width
from podium.terminal.printing import Form, bytes_text, filled, minute_text, print_table, say

if TYPE_CHECKING:
    from podium.live.stored_studies import StoredStudy

_LOOK_SECONDS = 2.0
_COLUMNS = ("study", "state", "trials", "training", "of GPUs", "size", "changed")
_WORTH = ("study", "state", "trials", "changed", "size", "of GPUs", "training")
_NUM_KEPT = 3


def command(
    *,
    study: OptionalStudyPath = None,
    storage: StorageFolder = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show it in the terminal until the run ends.")
    ] = False,
    web: Annotated[
        bool, typer.Option("--web", help="Show it on a page of this machine, until Ctrl-C.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, metavar="N", help="Port of the page; default: any."),
    ] = None,
    form: Form,
) -> None:
    """Show how far each search is. Reads the store only, so it works from any machine.

    The text names a search by what distinguishes it; JSON and CSV have its id too. The page of
    --web shows learning curves, the budget, and failures with their logs besides. Its address
    holds a secret token and works on this machine alone.

    Without STUDY the studies of the storage are listed: state, trials done of those planned, size,
    last change. Folders that are damaged or not podium's are named too. No trial is read. JSON and
    CSV have sizes in bytes, times in UTC, and all columns.
    """
    if port is not None and not web:
        raise PodiumError("--port goes with --web, which shows the page")
    if study is None:
        if watch or web:
            raise PodiumError("--watch and --web need a study")
        _list(DEFAULT_STORAGE if storage is None else storage, form)
    elif web:
        _serve(results_folder(study, storage), port or 0)
    elif watch:
        _follow(results_folder(study, storage))
    else:
        print_answer(Results(results_folder(study, storage)).status(), form)


def _serve(folder: Place, port: int) -> None:
    from podium.live.server import LiveServer

    with LiveServer(folder, port=port) as server:
        say(f"Watch: {server.url}\nCtrl-C ends the page, not the study.")
        server.serve_forever()


def _follow(folder: Place) -> None:
    from podium.live.followed_study import FollowedStudy
    from podium.terminal.live_progress import progress_line, watching

    followed = FollowedStudy(folder)
    shown = followed.view()
    if shown.state != "running":
        say(f"{shown.name} is not running ({shown.state}): {progress_line(shown.progress)}")
        return
    with watching(lambda: shown.progress):
        while shown.state == "running":
            time.sleep(_LOOK_SECONDS)
            shown = followed.view()


def _list(place: Place, form: Form) -> None:
    """Print the studies of a storage, by name."""
    from podium.live.stored_studies import stored_studies

    if isinstance(place, Path) and not place.is_dir():
        raise PodiumError(f"no study has run here: there is no folder {place}")
    found = stored_studies(place)
    if not form.is_text:
        print_table([_record(study) for study in found], form=form)
        return
    rows = [_row(study) for study in found]
    columns = [name for name in _COLUMNS if name != "of GPUs" or any(row[name] for row in rows)]
    worth = [name for name in _WORTH if name in columns]
    say(fitted_text(rows, columns=columns, worth=worth, num_kept=_NUM_KEPT))
    for study in found:
        if study.problem is not None:
            line = one_line(f"{study.folder.name}: {study.state}: {study.problem}")
            say(filled(line, terminal_width()))


def _row(study: "StoredStudy") -> dict[str, object]:
    where = f" on {study.running_on}" if study.running_on else ""
    return {
        "study": study.folder.name,
        "state": f"{study.state}{where}",
        "trials": "-" if study.trials is None else f"{study.trials}/{study.planned}",
        "training": study.trial_hours and duration(3600 * study.trial_hours),
        "of GPUs": study.gpu_hours and duration(3600 * study.gpu_hours),
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
