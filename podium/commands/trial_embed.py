"""``podium trial embed TRIAL FOLDER``: embeddings of any images by the network of a trial."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.arguments.trial_argument import (
    Fold,
    InStudies,
    model_of_fold,
    refuse_existing,
    stored_trial,
)
from podium.errors import PodiumError
from podium.terminal.printing import say

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


_SUFFIXES = (".npz", ".csv")


def command(
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
    _write(output, paths, embeddings_ND)
    say(f"Wrote {len(paths)} embeddings of {embeddings_ND.shape[1]} dimensions to {output}.")


def _write(output: Path, paths: Sequence[str], embeddings_ND: "npt.NDArray[np.float32]") -> None:
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
