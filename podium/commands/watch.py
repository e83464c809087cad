"""``podium watch STUDY``: follow a study as it runs, here or elsewhere."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from podium.arguments.live_options import Control, Port, check_live_options
from podium.arguments.study_argument import StorageFolder, StudyPath, results_folder
from podium.terminal.printing import say

if TYPE_CHECKING:
    from orchestrator.results.storage.locations import Place
    from podium.live.followed_study import FollowedStudy

_LOOK_SECONDS = 2.0
_WAIT_SECONDS = 3600.0


def command(
    study: StudyPath,
    storage: StorageFolder = None,
    web: Annotated[
        bool, typer.Option("--web", help="Show it on a page of this machine, until Ctrl-C.")
    ] = False,
    port: Port = None,
    control: Control = False,
) -> None:
    """Follow a study by its results folder, wherever it runs; nothing is written there.

    Without --web the terminal shows how far each search is until the run ends. With --web a page
    shows that, worker slots, learning curves, the budget, and failures with their logs. Its
    address holds a secret token and works on this machine alone; it serves until Ctrl-C. The page
    of a study that has ended is its report. With --control the page writes control.yaml, as
    podium control and podium cancel do.
    """
    check_live_options(web=web, port=port, control=control)
    from podium.live.followed_study import FollowedStudy

    folder = results_folder(study, storage)
    followed = FollowedStudy(folder)  # refuses what holds no study, before anything is served
    if web:
        _serve(folder, port or 0, may_control=control)
    else:
        _follow(followed)


def _serve(folder: "Place", port: int, *, may_control: bool) -> None:
    from podium.live.serving import LiveServer

    with LiveServer(folder, port=port, may_control=may_control) as server:
        say(f"Watch: {server.url}\nCtrl-C ends the page, not the study.")
        while True:
            time.sleep(_WAIT_SECONDS)


def _follow(followed: "FollowedStudy") -> None:
    from podium.terminal.live_progress import progress_line, watching

    shown = followed.view()
    if shown.state != "running":
        say(f"{shown.name} is not running ({shown.state}): {progress_line(shown.progress)}")
        return
    with watching(lambda: shown.progress):
        while shown.state == "running":
            time.sleep(_LOOK_SECONDS)
            shown = followed.view()
