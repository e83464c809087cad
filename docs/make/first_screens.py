"""Makes the pictures of pages in docs/images, by commands, from two finished studies.

python -m docs.make.first_screens [podium-results]

quickstart, pictures, thesis-letters and field-2026 in there and the table of CUB200-2011 are real.
Other studies, which would take hours to run, have made-up scores, written as a study writes its
own.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from docs.make.photograph import PHONE, photograph_plot, photograph_screen
from podium.trainables.registry import names as names_of
from tests.analysis.protocol_store import write_protocol_store
from tests.analysis.protocol_truth import Judge, ProtocolTruth
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth

_ROOT = Path(__file__).parents[2]
_IMAGES = _ROOT / "docs" / "images"
_TABLE = ("studies/thesis_cub200.csv", "--by", "dataset,backbone,embedding_dim", "--where", "k=1")
_MANY = 46  # losses
_SCRIPTS = (
    *("armenian", "cyrillic", "georgian", "greek"),
    *("latin", "arrows", "operators", "shapes"),
)


def main() -> None:
    """Write the pages and photograph them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("storage", type=Path, nargs="?", default=Path("podium-results"))
    storage = parser.parse_args().storage.absolute()
    with tempfile.TemporaryDirectory() as scratch:
        pages = Path(scratch)
        for name in ("thesis-letters", "field-2026"):
            page = _page(pages, name, str(storage / name))
            photograph_screen(page, _IMAGES / f"{name}.png")
        shown = _page(pages, "quickstart", str(storage / "quickstart"))
        photograph_screen(shown, _IMAGES / "quickstart.png")
        photograph_screen(shown, _IMAGES / "quickstart-dark.png", scheme="dark")
        photograph_screen(shown, _IMAGES / "quickstart-phone.png", size=PHONE)
        retrieved = _page(pages, "pictures", str(storage / "pictures"))
        photograph_plot(retrieved, "images", _IMAGES / "retrieved.png", part="#retrieval")
        for name, command in (("cub200", _TABLE), *_made_up(pages)):
            photograph_screen(_page(pages, name, *command), _IMAGES / f"{name}.png")


def _page(pages: Path, name: str, *arguments: str) -> Path:
    """The file that ``podium report`` writes."""
    target = pages / f"{name}.html"
    command = [sys.executable, "-m", "podium", "report", *arguments, "--output", str(target)]
    subprocess.run(command, check=True, cwd=_ROOT)
    return target


def _made_up(folder: Path) -> tuple[tuple[str, tuple[str]], ...]:
    """Names of pictures, and the studies that they are of."""
    names = names_of("losses")[:_MANY]
    studies = {
        "many-losses": Truth(
            strengths={name: 0.004 * step for step, name in enumerate(names)},
            tuning_gains={name: 0.01 * (step % 7) for step, name in enumerate(names)},
            scripts=_SCRIPTS,
            embedding_dims=(32,),
            search_trials=6,
            seeds=2,
            noise=0.02,
        ),
    }
    made = {name: write_store(folder / name, truth) for name, truth in studies.items()}
    made["protocols"] = write_protocol_store(folder / "protocols", _protocols())
    return tuple((name, (str(store),)) for name, store in made.items())


def _protocols() -> ProtocolTruth:
    """Protocols that hold out ever more classes, folds, and tuning on test."""
    return ProtocolTruth(
        judges={
            "90-10": Judge(val_noise=2.5, level=-0.5, seconds=90),
            "70-30": Judge(val_noise=1.5, level=-2, seconds=70),
            "5-fold": Judge(kind="kfold", folds=5, level=-1, seconds=80),
            "test_tuned": Judge(kind="test_tuned", val_noise=0.5),
        },
        losses=("contrastive", "multi_similarity"),
    )


if __name__ == "__main__":
    main()
