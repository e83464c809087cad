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
from tests.podium.kept_studies import STUDY

PARTS = [name for name in PACKAGES if name != "podium"]
AS_THE_COMMAND = "import sys; from podium.__main__ import main; sys.argv[0] = 'podium'; main()"


def write_modules(folder, kind="files"):
    """Something of the name of each part, which cannot be imported."""
    for name in PARTS:
        file = folder / (f"{name}.py" if kind == "files" else f"{name}/__init__.py")
        file.parent.mkdir(exist_ok=True)
        file.write_text("raise RuntimeError('this is not of podium')\n")


@pytest.fixture(params=["files", "packages"])
def folder(request, tmp_path):
    """A folder with a study and with such modules."""
    (tmp_path / "tiny.yaml").write_text(STUDY)
    write_modules(tmp_path, request.param)
    return tmp_path


def python(folder, *words, environment=os.environ):
    """Python as it is started in the folder, which is first on its path."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**environment, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


@pytest.mark.parametrize("part", PARTS)
def test_the_folders_at_the_top_are_parts_of_podium(part):
    assert (ROOT / "podium" / part).readlink() == Path("..", part)


@pytest.mark.parametrize(
    ("folder", "words"),
    [("files", ("-m", "podium")), ("packages", ("-c", AS_THE_COMMAND))],
    indirect=["folder"],
)
def test_commands_run_beside_files_and_folders_named_as_podium_s_parts(folder, words):
    done = python(folder, *words, "plan", "tiny.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Study tiny: 1 setting x 1 loss" in done.stdout


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
