"""The search spaces of every loss by name (search_spaces.losses)."""

import importlib
from pathlib import Path

from search_spaces.parameters import LossSpaces


def loss_names() -> tuple[str, ...]:
    """Names of all losses with search spaces, sorted."""
    files = (Path(__file__).parent / "losses").glob("[!_]*.py")
    return tuple(sorted(file.stem for file in files))


def loss_spaces(name: str) -> LossSpaces:
    """The search spaces of one of `loss_names`."""
    found: LossSpaces = importlib.import_module(f"search_spaces.losses.{name}").SPACES
    return found
