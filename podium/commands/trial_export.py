"""``podium trial export TRIAL``: the weights of a trial as one file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.arguments.trial_argument import (
    Fold,
    InStudies,
    TrialId,
    model_of_fold,
    refuse_existing,
    stored_trial,
)
from podium.terminal.printing import say

if TYPE_CHECKING:
    from podium.trainables.saved_models.model_file import ModelFile


def command(
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
        f"Wrote {_line(found)} to {output}.\n"
        f"Next: podium trial embed {output} FOLDER --output embeddings.npz"
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
