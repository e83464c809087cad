"""``podium trial``: one configuration by hand, or a trial of a study again and its network."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.arguments.trial_argument import (
    Fold,
    InStudies,
    StoredTrial,
    TrialId,
    model_of_fold,
    refuse_existing,
    stored_trial,
)
from podium.commands import trial_evaluate, trial_train
from podium.errors import PodiumError
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.study.foreign_code import changed_code
from podium.terminal.printing import say
from podium.terminal.training_progress import run_and_print
from podium.trainables.settings.trial_settings import TrialSettings
from podium.trainables.trial_reports import EpochReport

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from podium.trainables.saved_models.model_file import ModelFile

_SAME, _DIFFERENT = 0, 1
_COMPARED = {"val": "validation scores", "train": "scores of training"}
_SUFFIXES = (".npz", ".csv")

command = typer.Typer(
    help="Train one configuration by hand, or use a trial of a study.", no_args_is_help=True
)
command.command("train")(trial_train.command)


@command.command()
def rerun(
    *,
    trial_id: TrialId,
    within: InStudies,
    trust_code: Annotated[
        bool,
        typer.Option(
            "--trust-code", help="Run copies of files of code that are in the results folder."
        ),
    ] = False,
) -> int:
    """Train a stored trial again, with its settings and seed, and compare the scores.

    On the machine that ran it first the numbers are the same to the last bit. Compared are
    validation scores, or those of training where nothing is validated. Nothing is stored, and the
    test classes are not touched again, unless they are what the trial was validated on. Code of
    your own is the present one; it says where that differs from the code of the stored trial.
    What was named by its file is in the results folder: --trust-code runs the copy.
    """
    trial = stored_trial(trial_id, within.folders())
    row = trial.row
    settings = replace(TrialSettings.from_dict(json.loads(row["settings"])), evaluate_test=False)
    if settings.protocol.leaks:
        say("test_tuned: the validation scores below are of test classes.")
    if trust_code:
        from podium.orchestrator.run.study_code import keep_recorded_files

        keep_recorded_files(StudyPaths(trial.folder))
    changes = changed_code(settings.code)
    for change in changes.values():
        say(f"other code than the stored trial was trained by: {change}")
    role = "val" if settings.protocol.is_validated else "train"
    stored, what = _stored_scores(trial, role), _COMPARED[role]
    again = {
        (report.fold, report.epoch, score.metric, score.k): score.value
        for report in run_and_print(settings)
        if isinstance(report, EpochReport)
        for score in report.scores
        if score.role == role
    }
    shared = [key for key in stored if key in again]
    gap = max((abs(stored[key] - again[key]) for key in shared), default=0.0)
    if gap == 0.0:
        say(f"same: all {len(shared)} stored {what} are equal")
        return _SAME
    say(
        f"different: {what} differ by up to {gap:.6f}; first run on {row['node']} with "
        f"torch {row['torch_version']}{' and other code' if changes else ''}"
    )
    return _DIFFERENT


def _stored_scores(trial: StoredTrial, role: str) -> Mapping[Any, float]:
    """Stored scores of one role by fold, epoch, metric and K."""
    import polars as pl

    from podium.orchestrator.results.trial_files.reader import Reader

    is_wanted = (pl.col("trial_id") == trial.trial_id) & (pl.col("role") == role)
    scores = Reader(trial.folder).scores().filter(is_wanted)
    values = scores.select("fold", "epoch", "metric", "k", "value").collect().iter_rows()
    return {tuple(key): value for *key, value in values}


@command.command()
def embed(
    *,
    trial: Annotated[
        str,
        typer.Argument(
            metavar="TRIAL", help="A final trial: its id or how it starts; or an exported file."
        ),
    ],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Images, at any depth.")],
    output: Annotated[Path, typer.Option(help="The file to write: .npz or .csv.")],
    trust_code: Annotated[
        bool,
        typer.Option(
            "--trust-code", help="Import the module that an exported file names as its backbone."
        ),
    ] = False,
    within: InStudies,
    fold: Fold = None,
) -> None:
    """Embed every image below a folder by the network of a final trial.

    Writes paths below FOLDER, in order, and an embedding for each: `.npz` holds the arrays
    `embeddings` (float32) and `paths`. An image that is broken is an error. An existing file is
    left alone.
    """
    if output.suffix not in _SUFFIXES:
        raise PodiumError(f"--output must end in {' or '.join(_SUFFIXES)}; got {output}")
    refuse_existing(output)
    from podium.trainables.file_caches.image_files import images_below
    from podium.trainables.saved_models.trained_model import load_model

    images = images_below(folder)
    file = Path(trial)
    if not (file.suffix == ".safetensors" or file.is_file()):
        file = model_of_fold(stored_trial(trial, within.folders()), fold)
        trust_code = True  # code that one's own study names ran already when it trained
    model = load_model(file, trust_code=trust_code)
    embeddings_ND = model.embed_files(images)
    paths = [image.relative_to(folder).as_posix() for image in images]
    _write_embeddings(output, paths, embeddings_ND)
    say(f"Wrote {len(paths)} embeddings of {embeddings_ND.shape[1]} dimensions to {output}.")


def _write_embeddings(
    output: Path, paths: Sequence[str], embeddings_ND: "npt.NDArray[np.float32]"
) -> None:
    from podium.orchestrator.results.storage.local_files import writing

    if output.suffix == ".npz":
        import numpy as np

        with writing(output) as file:
            np.savez(file, embeddings=embeddings_ND, paths=np.array(paths, dtype=str))
        return
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["path", *range(1, embeddings_ND.shape[1] + 1)])
    # As shortest float32: what is read again is the same to the last bit.
    rows.writerows([path, *row_D] for path, row_D in zip(paths, embeddings_ND, strict=True))
    with writing(output) as file:
        # Names that are no text keep their bytes.
        file.write(text.getvalue().encode(errors="surrogateescape"))


command.command("evaluate")(trial_evaluate.command)


@command.command()
def export(
    *,
    trial: TrialId,
    output: Annotated[Path, typer.Option(metavar="FILE", help="The safetensors file to write.")],
    within: InStudies,
    fold: Fold = None,
) -> None:
    """Write the weights of a final trial as one file, every byte checked.

    An existing file is left alone.

    Example: podium trial export 3f2a --output weights.safetensors
    """
    from podium.orchestrator.results.storage.files import put
    from podium.trainables.saved_models.model_file import read_model

    refuse_existing(output)
    source = model_of_fold(stored_trial(trial, within.folders()), fold)
    found = read_model(source)
    put(output, source.read_bytes())
    read_model(output)
    say(
        f"Wrote {_described(found)} to {output}.\n"
        f"Next: podium trial embed {output} FOLDER --output embeddings.npz"
    )


def _described(model: "ModelFile") -> str:
    settings = model.settings
    scores = "".join(
        f", test Recall@1 {score['value']:.4f}"
        for score in model.scores
        if (score["metric"], score["k"]) == ("recall", 1)
    )
    return (
        f"{settings.backbone.name} with {settings.embedding_dim} dimensions, {settings.loss} on "
        f"{settings.dataset.label}, epoch {model.epoch}{scores},"
    )
