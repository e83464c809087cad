"""podium runs in folders that hold files and folders named as its packages are."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.orchestrator.ray_cluster import RayCluster

ROOT = Path(__file__).parents[3]
NAMES = ("analysis", "orchestrator", "search_spaces", "trainables")
THEIRS = "raise RuntimeError('this is not of podium')\n"
STUDY = """
study: tiny
datasets: [{name: glyphs, script: greek, classes: 24, instances_per_class: 6}]
embedding_dims: [8]
losses: [contrastive]
protocol: {kind: fixed, val_fraction: 0.4}
search: {trials: 1, early_stopping: none, sampler: random}
final: {seeds: 1}
training: {epochs: 1, batch_size: 16}
"""
IMPORT_THEM = f"import importlib, podium; [importlib.import_module(it).__file__ for it in {NAMES}]"
AS_THE_COMMAND = "import sys; from podium.__main__ import main; sys.argv[0] = 'podium'; main()"
ENTRIES = {"python -m podium": ("-m", "podium"), "podium": ("-c", AS_THE_COMMAND)}


@pytest.fixture(params=["files", "packages", "folders without a module"])
def folder(request, tmp_path):
    """A folder with a study, and something of each name."""
    (tmp_path / "tiny.yaml").write_text(STUDY)
    for name in NAMES:
        if request.param == "files":
            (tmp_path / f"{name}.py").write_text(THEIRS)
            continue
        (tmp_path / name).mkdir()
        (tmp_path / name / "notes.txt").touch()
        if request.param == "packages":
            (tmp_path / name / "__init__.py").write_text(THEIRS)
    return tmp_path


def python(folder, *words, environment=os.environ, seconds=60):
    """Python as it is started in the folder, which is first on its path."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**environment, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def test_without_podium_python_finds_those_of_the_folder(tmp_path):
    (tmp_path / "analysis.py").write_text(THEIRS)
    done = python(tmp_path, "-c", "import analysis")
    assert "this is not of podium" in done.stderr


@pytest.mark.parametrize("entry", ENTRIES)
def test_commands_run_beside_files_and_folders_named_as_podium_s_packages(folder, entry):
    done = python(folder, *ENTRIES[entry], "plan", "tiny.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Study tiny: 1 block x 1 loss" in done.stdout


# A socket of the kernel that is still open when the process ends is not ours to close.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("folder", ["packages"], indirect=True)
def test_notebooks_beside_them_import_podium_s_packages(folder, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), str(ROOT)]))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(IMPORT_THEM)])
    where = {"metadata": {"path": str(folder)}}
    (cell,) = NotebookClient(notebook, timeout=60, resources=where).execute().cells
    files = ast.literal_eval(cell.outputs[0].data["text/plain"])
    assert files == [str(ROOT / name / "__init__.py") for name in NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_what_was_imported_by_a_name_before_podium_is_named_in_one_error(tmp_path, name):
    (tmp_path / f"{name}.py").touch()
    done = python(tmp_path, "-c", f"import {name}, podium")
    told = done.stderr.splitlines()[-1]
    assert told.startswith(f"ImportError: podium has a package named {name}")
    assert str(tmp_path / f"{name}.py") in told


def test_podium_s_packages_may_be_imported_before_podium(tmp_path):
    done = python(tmp_path, "-c", f"import {', '.join(NAMES)}, podium")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.ray
@pytest.mark.parametrize("folder", ["packages"], indirect=True)
def test_workers_of_ray_beside_them_run_trials(folder):
    done = python(folder, "-m", "podium", "run", "tiny.yaml", "--no-report", seconds=200)
    assert done.returncode == 0, done.stderr
    assert "3 of 3 trials done" in done.stderr


@pytest.mark.ray
@pytest.mark.parametrize("folder", ["files"], indirect=True)
def test_nodes_of_a_joined_cluster_beside_them_see_the_results(folder):
    with RayCluster(nodes=1, cpus=1) as cluster:
        run = ("run", "tiny.yaml", "--no-report", "--address", cluster.address)
        environment = {**os.environ, **cluster.environment}
        done = python(folder, "-m", "podium", *run, environment=environment, seconds=200)
    assert done.returncode == 0, done.stderr
    assert "3 of 3 trials done" in done.stderr
