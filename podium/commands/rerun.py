"""``podium rerun TRIAL_ID``: train a stored trial again and compare."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.results.errors import PodiumError
from podium.study_argument import StorageFolder, results_folder
from podium.training_line import run_and_print
from trainables.records import EpochReport
from trainables.settings import TrialSettings

__all__ = ["command"]

_SAME, _DIFFERENT = 0, 1
_DEFAULT_STORAGE = Path("podium-results")


def command(
    trial_id: Annotated[str, typer.Argument(help="As `podium trials` prints it.")],
    study: Annotated[
        Path | None,
        typer.Option(help="Study file or results folder; default: every study in the storage."),
    ] = None,
    storage: StorageFolder = None,
) -> int:
    """Train a stored trial again, with its settings and seed, and compare the scores.

    On the machine that ran it first the numbers are the same to the last bit. Nothing is stored,
    and the test classes are not touched again.
    """
    row, stored = _stored(trial_id, list(_folders(study, storage)))
    settings = replace(TrialSettings.from_dict(json.loads(row["settings"])), evaluate_test=False)
    again = {
        (report.fold, report.epoch, score.metric, score.k): score.value
        for report in run_and_print(settings)
        if isinstance(report, EpochReport)
        for score in report.scores
        if score.role == "val"
    }
    shared = [place for place in stored if place in again]
    gap = max((abs(stored[place] - again[place]) for place in shared), default=0.0)
    if gap == 0.0:
        typer.echo(f"same: all {len(shared)} stored validation scores came out equal")
        return _SAME
    typer.echo(
        f"different: validation scores differ by up to {gap:.6f}; first run on {row['node']} with "
        f"torch {row['torch_version']}"
    )
    return _DIFFERENT


def _folders(study: Path | None, storage: Path | None) -> Iterator[Path]:
    if study is not None:
        yield results_folder(study, storage)
        return
    root = storage or _DEFAULT_STORAGE
    yield from sorted(path.parent for path in root.glob("*/study.yaml"))


def _stored(trial_id: str, folders: list[Path]) -> tuple[Mapping[str, Any], Mapping[Any, float]]:
    """The row of a trial, and its validation scores by fold, epoch, metric and K."""
    import polars as pl

    from orchestrator.results.reader import Reader

    is_wanted = pl.col("trial_id") == trial_id
    for folder in folders:
        reader = Reader(folder)
        found = reader.trials().filter(is_wanted).collect()
        if found.is_empty():
            continue
        scores = reader.scores().filter(is_wanted, pl.col("role") == "val")
        values = scores.select("fold", "epoch", "metric", "k", "value").collect().iter_rows()
        return found.row(0, named=True), {tuple(place): value for *place, value in values}
    looked = ", ".join(map(str, folders)) or "no results folder"
    raise PodiumError(f"no trial {trial_id!r}; looked in: {looked}")
