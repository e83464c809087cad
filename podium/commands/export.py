"""``podium export --model TRIAL``: the weights of a trial as one file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.study_argument import StorageFolder
from podium.trial_argument import Fold, InStudy, stored_trial
from podium.trial_files import model_of, refuse_existing

if TYPE_CHECKING:
    from trainables.model_file import ModelFile

__all__ = ["command"]


def command(
    model: Annotated[
        str,
        typer.Option(
            "--model", metavar="TRIAL", help="A final trial: its id, or how the id starts."
        ),
    ],
    output: Annotated[Path, typer.Option(help="The safetensors file to write.")],
    study: InStudy = None,
    storage: StorageFolder = None,
    fold: Fold = None,
) -> None:
    """Write the weights of a final trial as one safetensors file, with all it takes to use them.

    Every byte is checked. `podium embed FILE FOLDER` uses the file on any machine; so does
    `trainables.trained_model.load_model`. An existing file is left alone.
    """
    refuse_existing(output)
    trial = stored_trial(model, study, storage)
    source = model_of(trial, fold)
    from orchestrator.results.files import put
    from trainables.model_file import read_model

    found = read_model(source)
    put(output, source.read_bytes())
    read_model(output)
    typer.echo(
        f"Wrote {_line(found)} to {output}.\n"
        f"Next: podium embed {output} FOLDER --output embeddings.npz"
    )


def _line(model: "ModelFile") -> str:
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
