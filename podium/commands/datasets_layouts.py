"""``podium datasets layouts``: label distances, for data sets with continuous labels."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from podium.arguments.trial_argument import refuse_existing
from podium.errors import PodiumError
from podium.terminal.printing import say
from podium.trainables.dataset_interface.layout_distances import layout_distances
from podium.trainables.file_caches.atomic_file import whole_file


def command(
    layouts: Annotated[
        Path, typer.Argument(help="A .npy file of shape (images, height, width): classes.")
    ],
    output: Annotated[Path, typer.Option(help="The .npy file to write.")],
) -> None:
    """Write how far the layouts of any two images are apart: 1 - mean IoU over their classes.

    Layouts are in the order of the data set. An existing file is left alone.
    """
    refuse_existing(output)
    try:
        layouts_NHW = np.load(layouts, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise PodiumError(f"layouts must be a .npy file; {layouts}: {error}") from error
    distances_NN = layout_distances(layouts_NHW)
    try:
        with whole_file(output) as file:
            np.save(file, distances_NN)
    except OSError as error:
        raise PodiumError(f"{output} cannot be written: {error}") from error
    say(
        f"Wrote the distances of {len(distances_NN)} layouts to {output}, from 0 to "
        f"{distances_NN.max():.3g}.\nNext: give the data set the option label_distances: {output}"
    )
