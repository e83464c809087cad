"""Makes the README's picture, docs/images/quickstart.png, from a finished run of the quickstart.

python -m docs.make.quickstart_picture [podium-results/quickstart]
"""

import argparse
from pathlib import Path

from docs.make.photograph import photograph

_TARGET = Path(__file__).parents[1] / "images" / "quickstart.png"


def main() -> None:
    """Photograph the first screen of the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=Path("podium-results/quickstart"))
    folder = parser.parse_args().folder
    photograph(folder, "#summary", _TARGET, from_top=True)


if __name__ == "__main__":
    main()
