"""Ray reads its settings when it is imported, so every module has to set them before that."""

import ast
import importlib
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import podium.orchestrator.executors
from podium.errors import PodiumError
from podium.orchestrator.executors import ray_environment

ROOT = Path(__file__).parents[3]
ENVIRONMENT = "podium.orchestrator.executors.ray_environment"
MODULES = sorted(Path(podium.orchestrator.executors.__file__).parent.glob("*.py"))


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


@pytest.mark.parametrize("found", ["2.54.1", "2.61.0", "2.6.0", "3.0.0"])
def test_a_ray_that_was_not_tested_is_refused_with_the_version_that_was(monkeypatch, found):
    monkeypatch.setattr(metadata, "version", lambda name: found)
    rule = rf"tested with Ray 2\.55 to 2\.60 .* Ray {found} is installed"
    with pytest.raises(PodiumError, match=rule):
        importlib.reload(ray_environment)


def test_what_is_installed_with_podium_is_the_ray_that_was_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (_, oldest), (_, newest) = ray_environment.OLDEST_RAY, ray_environment.NEWEST_RAY
    wanted = f"ray[tune]>=2.{oldest},<2.{newest + 1}"
    assert wanted in project["dependencies"]
    assert f"'ray[tune]==2.{oldest}.*'" in (ROOT / "Makefile").read_text()
