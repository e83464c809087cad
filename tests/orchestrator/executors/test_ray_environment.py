"""Ray must be a tested version, and reads its settings when it is imported."""

import os
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from podium.errors import PodiumError
from podium.orchestrator.executors import ray_environment

ROOT = Path(__file__).parents[3]


def test_the_package_of_every_module_that_imports_ray_sets_its_environment_before():
    code = (
        "import os, sys, podium.orchestrator.executors;"
        "print(os.environ['RAY_AUTH_MODE'], 'ray' in sys.modules)"
    )
    environment = {name: it for name, it in os.environ.items() if not name.startswith("RAY_")}
    said = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
    assert said.split() == ["token", "False"]


@pytest.mark.parametrize("found", ["2.54.1", "2.61.0", "2.6.0", "3.0.0"])
def test_a_ray_that_was_not_tested_is_refused_with_the_version_that_was(monkeypatch, found):
    monkeypatch.setattr(metadata, "version", lambda name: found)
    rule = rf"tested with Ray 2\.55 to 2\.60 .* Ray {found} is installed"
    with pytest.raises(PodiumError, match=rule):
        ray_environment.refuse_other_versions()


def test_what_is_installed_with_podium_is_the_ray_that_was_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (_, oldest), (_, newest) = ray_environment.OLDEST_RAY, ray_environment.NEWEST_RAY
    wanted = f"ray[tune]>=2.{oldest},<2.{newest + 1}"
    assert wanted in project["dependencies"]
    assert f"'ray[tune]==2.{oldest}.*'" in (ROOT / "Makefile").read_text()
