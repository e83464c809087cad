"""``podium compare LOSS``: one loss against others, and how sure the answer is."""

from pathlib import Path
from typing import Annotated

import typer

from podium.arguments.study_argument import Local, StorageFolder
from podium.terminal.fitting_table import terminal_width
from podium.terminal.printing import filled, say

_DONE, _SOME_FAILED = 0, 1


def command(
    loss: Annotated[
        str,
        typer.Argument(
            metavar="LOSS",
            help="The loss: a class in a file such as ./myloss.py:MyLoss, or a name.",
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
        int | None,
        typer.Option(
            min=1, help="Time it may take on two idle cores; more is surer. Default: as few as do."
        ),
    ] = None,
    storage: StorageFolder = None,
    local: Local = False,
    opens: Annotated[bool, typer.Option("--open", help="Open the report in a browser.")] = False,
) -> int:
    """Compare a loss with others, in a minute: ranks, differences, and how sure they are.

    Every loss is searched with the same budget, then tested on classes that no search has seen,
    over many small sets of letters, or on your images with --data. Give the same command again to
    continue after a stop, or to read the answer again; a changed loss is compared anew.
    """
    from podium.api.compare import plan_comparison
    from podium.api.study import run_to_end
    from podium.arguments.report_targets import ReportTargets

    names = None if against is None else [name.strip() for name in against.strip(", ").split(",")]
    planned = plan_comparison(loss, against=names, data=data, minutes=minutes, storage=storage)
    say(filled(planned.description, terminal_width()), err=True)
    end = run_to_end(planned.study, local=local)
    say(planned.text)
    report = planned.report().write(ReportTargets(opens=opens))
    say(f"\nResults: {planned.study.folder}\nReport: {report}")
    return _SOME_FAILED if end.progress.failed else _DONE
