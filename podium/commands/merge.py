"""``podium merge``: one results folder of several."""

from contextlib import nullcontext
from typing import Annotated

import typer

from orchestrator.results.storage.locations import RemotePath
from podium.arguments.study_argument import GivenPlace, given_place
from podium.errors import PodiumError
from podium.terminal.printing import say


def command(
    studies: Annotated[
        list[GivenPlace],
        typer.Argument(
            metavar="FOLDER...", parser=given_place, help="Results folders, at least two."
        ),
    ],
    output: Annotated[
        GivenPlace,
        typer.Option(
            metavar="FOLDER",
            parser=given_place,
            help="The new results folder; it names the merged study.",
        ),
    ],
    trust_code: Annotated[
        bool,
        typer.Option(
            "--trust-code",
            help="Run modules that the studies name, and copies of their losses' files,"
            " to record what their losses share.",
        ),
    ] = False,
) -> None:
    """Make one results folder of several, such as those of two groups with other losses.

    Refused unless they have the same test classes, splits, budgets, metrics and numerics; each
    reason is printed. The sources stay as they are, their order does not matter, and the merged
    folder is written whole or not at all. Reports and tournaments read it; it cannot be resumed.

    Example: podium merge ours/thesis-cub theirs/thesis-cub --output both
    """
    from analysis.wording import counted, listed
    from orchestrator.results.records.store_paths import StudyPaths
    from orchestrator.results_tools.merge_studies import merge_studies
    from orchestrator.run.study_code import keep_recorded_files
    from trainables.importable_code import importing_nothing

    if isinstance(output, RemotePath):
        raise PodiumError(
            f"--output must be a folder of this machine, which can be made whole; got {output}:"
            " merge here, then copy the folder there"
        )
    for folder in studies if trust_code else ():
        keep_recorded_files(StudyPaths(folder))
    with nullcontext() if trust_code else importing_nothing("a folder"):
        merged = merge_studies(studies, output)
    shared = (
        f", {counted(merged.num_shared, 'shared trial')} kept once" if merged.num_shared else ""
    )
    say(
        f"{counted(merged.trials, 'trial')} of {counted(len(studies), 'folder')} in"
        f" {merged.folder}{shared}: {counted(len(merged.losses), 'loss', 'losses')}"
        f" ({listed(merged.losses)}) in {counted(merged.num_blocks, 'block')}"
    )
