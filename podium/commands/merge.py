"""``podium merge``: one results folder of several."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["command"]


def command(
    studies: Annotated[
        list[Path], typer.Argument(metavar="FOLDER...", help="Results folders, at least two.")
    ],
    output: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="The new results folder; it names the merged study."),
    ],
) -> None:
    """Make one results folder of several, such as those of two groups with other losses.

    Refused unless they have the same test classes, splits, budgets, metrics and numerics; each
    reason is said. The sources stay as they are, their order does not matter, and what comes out
    is there whole or not at all. Reports and tournaments read it; it cannot be run on.

    Example: podium merge ours/thesis-cub theirs/thesis-cub --output both
    """
    from analysis.wording import counted, listed
    from orchestrator.merged_study import merge_studies

    merged = merge_studies(studies, output)
    shared = (
        f", {counted(merged.num_shared, 'shared trial')} kept once" if merged.num_shared else ""
    )
    typer.echo(
        f"{counted(merged.trials, 'trial')} of {counted(len(studies), 'folder')} in"
        f" {merged.folder}{shared}: {counted(len(merged.losses), 'loss', 'losses')}"
        f" ({listed(merged.losses)}) in {counted(merged.num_blocks, 'block')}"
    )
