"""``podium datasets text``: vectors for class names, by a language model."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.arguments.key_value_argument import assignment
from podium.arguments.trial_argument import refuse_existing
from podium.errors import PodiumError
from podium.terminal.printing import say
from podium.trainables.dataset_interface.class_text import write_class_text
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.settings.trial_settings import DatasetSettings

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# What Roth et al. 2022 guide by, the text half of CLIP, as sentence-transformers calls it.
_MODEL = "clip-ViT-B-32"
_PROMPT = "A photo of {}"

# "001." of CUB200-2011 and "U+0041 " of glyphs count classes, they do not describe them.
_NUMBERING = re.compile(r"^(\d+\.|U\+[0-9A-F]+ )(?=.)")


def command(
    datasets: Annotated[
        list[str], typer.Argument(metavar="DATASET...", help="Names of data sets.")
    ],
    output: Annotated[Path, typer.Option(help="The CSV file to write.")],
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="OPTION=VALUE", help="An option of the data sets. Repeatable."
        ),
    ] = None,
    model: Annotated[str, typer.Option(help="A model of sentence-transformers.")] = _MODEL,
    prompt: Annotated[str, typer.Option(help="The sentence; {} is the class.")] = _PROMPT,
) -> None:
    """Write vectors for the names of all classes of data sets, for losses guided by language.

    Needs the extra `text` and downloads the model once. An existing file is left alone.
    """
    if prompt.count("{}") != 1:
        raise PodiumError(f"--prompt must have one {{}}, for the class; got {prompt!r}")
    refuse_existing(output)
    options = dict(map(assignment, overrides or ()))
    class_names = sorted(
        {
            class_name
            for name in datasets
            for class_name in load_dataset(
                DatasetSettings(name=name, options=options), None
            ).class_names
        }
    )
    sentences = [prompt.replace("{}", readable(name)) for name in class_names]
    vectors = _vectors(sentences, model)
    write_class_text(output, dict(zip(class_names, vectors, strict=True)))
    say(
        f"Wrote {len(vectors)} vectors of {vectors.shape[1]} numbers to {output}, such as that of "
        f"{sentences[0]!r}.\nNext: give the data set the option class_text: {output}"
    )


def readable(class_name: str) -> str:
    """A class name as words: without its number, and with spaces for underscores."""
    return _NUMBERING.sub("", class_name).replace("_", " ").strip()


def _vectors(sentences: Sequence[str], model: str) -> "npt.NDArray[np.float32]":
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise PodiumError(
            "podium datasets text needs sentence-transformers, which is not installed: "
            "pip install 'podium[text]', or in a checkout pip install '.[text]'"
        ) from error
    try:
        encoder = SentenceTransformer(model)
    except OSError as error:
        reason = str(error).strip().splitlines()[0]
        raise PodiumError(f"model {model!r} cannot be loaded: {reason}") from error
    vectors: npt.NDArray[np.float32] = encoder.encode(list(sentences), show_progress_bar=False)
    return vectors
