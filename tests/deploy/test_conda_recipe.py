"""The conda recipe says what pyproject.toml says, under the names of conda-forge."""

import importlib.util
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "deploy" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
RECIPE = yaml.safe_load(TEXT)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONDA_NAMES = {
    "ray": "ray-tune",
    "torch": "pytorch",
    "matplotlib": "matplotlib-base",
    "tensorboardX": "tensorboardx",
}


def conda_line(requirement):
    """A requirement of pip as a recipe writes it; extras are packages of their own there."""
    asked = Requirement(requirement)
    bounds = requirement.removeprefix(asked.name).rpartition("]")[2]
    return f"{CONDA_NAMES.get(asked.name, asked.name)} {bounds}"


def test_the_recipe_needs_what_the_package_needs():
    project = PROJECT["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["cpu"]]
    python, *others = RECIPE["requirements"]["run"]
    assert others == [conda_line(line) for line in needed]
    assert python == "python >=${{ python_min }}"
    assert RECIPE["requirements"]["host"][-1] == conda_line(PROJECT["build-system"]["requires"][0])


def test_what_it_imports_to_try_the_package_is_there():
    imported = RECIPE["tests"][0]["python"]["imports"]
    assert [name for name in imported if importlib.util.find_spec(name) is None] == []


def test_version_python_command_and_license_are_those_of_the_package():
    project = PROJECT["project"]
    assert RECIPE["context"]["version"] == project["version"]
    assert f">={RECIPE['context']['python_min']}" == project["requires-python"]
    commands = [f"{name} = {to}" for name, to in project["scripts"].items()]
    assert RECIPE["build"]["python"]["entry_points"] == commands
    assert RECIPE["about"]["license"] == project["license"]
    assert RECIPE["about"]["summary"] == project["description"]
