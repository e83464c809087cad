"""``podium compare LOSS``: one loss against others, and how sure the answer is."""

import os
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
import yaml

from podium.arguments.completion import complete_loss
from podium.arguments.study_argument import StorageFolder
from podium.errors import PodiumError
from podium.stop_signals import Interrupted, Stopped, StopSignals
from podium.terminal.fitting_table import terminal_width
from podium.terminal.printing import say

if TYPE_CHECKING:
    from orchestrator.scheduling.study_events import Event
    from podium.api.compare import Comparison

_DONE, _SOME_FAILED, _INTERRUPTED = 0, 1, 3


def command(
    loss: Annotated[
        str,
        typer.Argument(
            metavar="LOSS",
            help="The loss: a class in a file such as ./myloss.py:MyLoss, or a name.",
            autocompletion=complete_loss,
            show_default=False,
        ),
    ],
    against: Annotated[
        str | None,
        typer.Option(
            metavar="LOSSES",
            help="Compare with these, such as proxy_anchor,triplet."
            " Default: multi_similarity, proxy_anchor, contrastive.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Compare on these images, a folder a class; default: letters."
        ),
    ] = None,
    minutes: Annotated[
        int, typer.Option(min=1, help="Time it may take on two idle cores; more is surer.")
    ] = 1,
    storage: StorageFolder = None,
    local: Annotated[
        bool, typer.Option("--local", help="One trial at a time in this process, without Ray.")
    ] = False,
    write: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the study as a file to keep and change; run nothing."
        ),
    ] = None,
) -> int:
    """Compare a loss with others, in a minute: ranks, differences, and how sure they are.

    Every loss is searched with the same budget, then tested on classes that no search has seen,
    over many small sets of letters, or on your images with --data. Give the same command again to
    continue after a stop, or to read the answer again; a changed loss is compared anew.
    """
    from podium.api.compare import plan_comparison

    names = None if against is None else [name.strip() for name in against.split(",")]
    planned = plan_comparison(loss, against=names, data=data, minutes=minutes, storage=storage)
    if write is not None:
        _write(planned, write)
        return _DONE
    text = textwrap.fill(planned.description, terminal_width(), break_on_hyphens=False)
    say(text, err=True)
    try:
        with StopSignals():
            return _run(planned, local=local)
    except (Stopped, Interrupted):
        say(f"Stopped. To continue: {planned.command()}", err=True)
        return _INTERRUPTED


def _run(planned: "Comparison", *, local: bool) -> int:
    ends: list[Event] = []
    planned.study.run(
        local=local,
        on_event=lambda event: ends.append(event) if event.kind == "study ended" else None,
    )
    (end,) = ends
    say(planned.text)
    say(f"\nResults: {planned.study.folder}, as a page: podium report {planned.study.folder}")
    say(f"The study as a file: {planned.command()} --write study.yaml")
    return _SOME_FAILED if end.progress and end.progress.failed else _DONE


def _write(planned: "Comparison", file: Path) -> None:
    """Write the study file; relative paths in it begin at its folder."""
    keys = dict(planned.keys)
    keys["losses"] = [_moved(name, file) for name in planned.keys["losses"]]
    if planned.data is not None:
        keys["datasets"] = [{"name": "folder", "root": _beside(planned.data, file)}]
    head = f"# {planned.command()}\n# Start or continue it: podium run {file.name}\n"
    text = yaml.safe_dump(keys, sort_keys=False, default_flow_style=None, width=100)
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(head + text)
    except FileExistsError:
        raise PodiumError(f"{file} exists already and is not overwritten") from None
    except OSError as error:
        raise PodiumError(f"{file} cannot be written: {error.strerror}") from None
    say(f"Wrote {file}. Next: podium plan {file}, then podium run {file}")


def _moved(loss: str, file: Path) -> str:
    from trainables.loss_files import paths_in

    for path in paths_in(loss):
        loss = loss.replace(path, _beside(Path(path), file))
    return loss


def _beside(path: Path, file: Path) -> str:
    """A path from the folder of a file; one that is absolute stays so."""
    if path.is_absolute():
        return str(path)
    found = os.path.relpath(path, file.parent)
    return found if found.startswith("..") else f"./{found}"
