"""The notebook runs a study and reads it, and commands and Python read the same numbers there."""

import json
import math
import re

import nbformat
import pytest
from nbclient import NotebookClient

import podium
from tests.docs.code_blocks import DOCS
from tests.podium.calling import output_of

NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))

# The variables that the notebook shows, with all their digits.
LEAVE_NUMBERS = """
import json

record = {
    "tournament": tournament.to_dict(),
    "cv": cv.to_dict(),
    "importance": importance.to_dict(),
    "trials": results.select_trials().to_dicts(),
}
with open("numbers.json", "w") as file:
    json.dump(record, file)
"""

# A socket of the kernel that is still open when the process ends is not ours to close.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder in which the notebook runs."""
    return tmp_path_factory.mktemp("notebook")


@pytest.fixture(scope="module")
def executed(folder):
    """A first study, cell by cell in a kernel of its own; its last cell is that of the test."""
    notebook = nbformat.read(DOCS / "notebooks" / "first-study.ipynb", as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(LEAVE_NUMBERS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(DOCS.parent))
        patch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
        client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": folder}})
        return client.execute()


def outputs(notebook, kind):
    return [
        output.data[kind]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if kind in output.get("data", {})
    ]


# Progress, and what tqdm says without ipywidgets.
TOLD = re.compile(
    r"^\d{4}-.* trials done|^Not equal between|^the report|^Running |tqdm|^Report: |^$"
)


def test_every_cell_runs_and_shows_what_it_is_about(executed):
    texts = "\n".join(outputs(executed, "text/plain"))
    assert "contrastive" in texts
    assert "proxy_anchor" in texts
    assert re.search(r"place.*average_rank.*wins", texts)
    assert len(outputs(executed, "image/png")) == 1
    cells = [cell for cell in executed.cells if cell.cell_type == "code"]
    found = [output for cell in cells for output in cell.outputs]
    assert [output for output in found if output.output_type == "error"] == []
    told = [line for it in found if it.get("name") == "stderr" for line in it.text.splitlines()]
    assert told, "how far the run is"
    assert [line for line in told if not TOLD.search(line)] == []


def test_the_command_line_python_and_the_notebook_have_the_same_numbers(
    executed, folder, capsys, monkeypatch
):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    noted = json.loads((folder / "numbers.json").read_text())
    results = podium.results("podium-results/first")
    here = {
        "tournament": results.tournament().to_dict(),
        "cv": results.cv().to_dict(),
        "importance": results.importance().to_dict(),
        "trials": results.select_trials().to_dicts(),
    }
    for command, numbers in noted.items():
        printed = json.loads(output_of(capsys, command, results.folder, "--json"))
        assert printed, command
        assert numbers_of(numbers) == printed, command
        assert numbers_of(here[command]) == printed, command
    texts = outputs(executed, "text/plain")
    for command in ("tournament", "cv", "importance"):
        assert output_of(capsys, command, results.folder).rstrip("\n") in texts, command


def test_the_report_has_the_numbers_of_the_tournament(executed, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    store = folder / "podium-results" / "first"
    noted = json.loads((folder / "numbers.json").read_text())
    written = json.loads(store.with_suffix(".json").read_text())
    page = (store / "report.html").read_bytes()
    printed = json.loads(output_of(capsys, "report", store, "--json", "-"))
    assert written == printed
    assert (store / "report.html").read_bytes() == page
    standings = noted["tournament"]["competitors"]
    assert len(standings) == 2
    for row, ranked in zip(written["tournament"]["competitors"], standings, strict=True):
        percent, mean = row.pop("mean_score"), ranked.pop("mean_score")
        assert row == ranked
        assert math.isclose(percent, 100 * mean, rel_tol=1e-12), "a report is in percent"


def numbers_of(record):
    """Plain values as they read back from JSON, in which what is no number is null."""
    return json.loads(json.dumps(record).replace("NaN", "null"))


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.name)
def test_notebooks_are_kept_without_outputs(file):
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code
    assert all(not cell.outputs and cell.execution_count is None for cell in code)


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.name)
def test_links_of_notebooks_lead_somewhere(file):
    for cell in nbformat.read(file, as_version=4).cells:
        if cell.cell_type != "markdown":
            continue
        for target in re.findall(r"\]\(([^)\s]+)\)", cell.source):
            if not target.startswith("https://"):
                assert (file.parent / target.partition("#")[0]).exists(), target


def test_the_run_shows_a_bar_that_is_full_at_the_end(executed):
    bars = [html for html in outputs(executed, "text/html") if html.startswith("<progress")]
    (bar,) = bars
    most, done = re.match(r"<progress max=(\d+) value=(\d+)>", bar).groups()
    assert most == done
    assert f"{done} of {most} trials done" in bar
