"""podium is one name: files and folders called as its parts are do not stand in its way."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.module_graph import PACKAGES, ROOT
from tests.orchestrator.ray_cluster import RayCluster
from tests.podium.kept_studies import STUDY

PARTS = [name for name in PACKAGES if name != "podium"]
THEIRS = "raise RuntimeError('this is not of podium')\n"
AS_THE_COMMAND = "import sys; from podium.__main__ import main; sys.argv[0] = 'podium'; main()"
ENTRIES = {"python -m podium": ("-m", "podium"), "podium": ("-c", AS_THE_COMMAND)}


@pytest.fixture(params=["files", "packages"])
def folder(request, tmp_path):
    """A folder with a study, and something of each name that cannot be imported."""
    (tmp_path / "tiny.yaml").write_text(STUDY)
    for name in PARTS:
        file = tmp_path / (f"{name}.py" if request.param == "files" else f"{name}/__init__.py")
        file.parent.mkdir(exist_ok=True)
        file.write_text(THEIRS)
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


@pytest.mark.parametrize("part", PARTS)
def test_the_folders_at_the_top_are_parts_of_podium(part):
    assert (ROOT / "podium" / part).readlink() == Path("..", part)


@pytest.mark.parametrize("entry", ENTRIES)
def test_commands_run_beside_files_and_folders_named_as_podium_s_parts(folder, entry):
    done = python(folder, *ENTRIES[entry], "plan", "tiny.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Study tiny: 1 block x 1 loss" in done.stdout


# A socket of the kernel that is still open when the process ends is not ours to close.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("folder", ["files"], indirect=True)
def test_notebooks_import_modules_of_their_own_with_such_names_and_podium_s(folder, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), str(ROOT)]))
    (folder / "analysis.py").write_text("OWN = 1")
    code = "import analysis, podium.analysis as theirs; [analysis.OWN, theirs.__file__]"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    where = {"metadata": {"path": str(folder)}}
    (cell,) = NotebookClient(notebook, timeout=60, resources=where).execute().cells
    own, file = ast.literal_eval(cell.outputs[0].data["text/plain"])
    assert (own, file) == (1, str(ROOT / "podium/analysis/__init__.py"))


@pytest.mark.ray
def test_workers_of_ray_beside_them_run_trials(folder):
    with RayCluster(nodes=1, cpus=1) as cluster:
        run = ("run", "tiny.yaml", "--no-report", "--address", cluster.address)
        environment = {**os.environ, **cluster.environment}
        done = python(folder, "-m", "podium", *run, environment=environment, seconds=200)
    assert done.returncode == 0, done.stderr
    assert "4 of 4 trials done" in done.stderr
