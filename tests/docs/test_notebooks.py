"""The notebooks run, on the results of a study that was run for them."""

import re

import nbformat
import pytest
from nbclient import NotebookClient

from tests.docs.code_blocks import DOCS

NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))

# A socket of the kernel that is still open when the process ends is not ours to close.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def executed(prepared):
    """Reading results, cell by cell in a kernel of its own."""
    notebook = nbformat.read(DOCS / "notebooks" / "reading-results.ipynb", as_version=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PODIUM_RESULTS", str(prepared / "podium-results" / "letters"))
        patch.setenv("PYTHONPATH", str(DOCS.parent))
        patch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
        client = NotebookClient(
            notebook, timeout=120, resources={"metadata": {"path": str(DOCS / "notebooks")}}
        )
        return client.execute()


def outputs(notebook, kind):
    return [
        output.data[kind]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if kind in output.get("data", {})
    ]


def test_every_cell_runs_and_the_results_are_those_of_the_study(executed):
    texts = "\n".join(outputs(executed, "text/plain"))
    assert "contrastive" in texts
    assert "proxy_anchor" in texts
    assert re.search(r"place.*average_rank.*wins", texts)
    assert len(outputs(executed, "image/png")) == 1
    errors = [
        output
        for cell in executed.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type in ("error", "stream")
    ]
    assert errors == [], "cells neither fail nor warn"


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
