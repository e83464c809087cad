"""Ray reads its settings when it is imported, so every module has to set them before that."""

import ast
from pathlib import Path

import pytest

import orchestrator.executors

ENVIRONMENT = "orchestrator.executors.ray_environment"
MODULES = sorted(Path(orchestrator.executors.__file__).parent.glob("*.py"))


def imported_names(path):
    """Names of modules in the order in which the file imports them at its top level."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_the_environment_is_set_before_ray_is_imported(path):
    names = list(imported_names(path))
    of_ray = [number for number, name in enumerate(names) if name.partition(".")[0] == "ray"]
    if of_ray:
        assert ENVIRONMENT in names[: min(of_ray)]
