"""Progress below the cell of a real notebook: one display that is replaced, no flood of lines."""

import nbformat
import pytest
from nbclient import NotebookClient

CELL = """
import podium
study = podium.load(
    study="tiny",
    datasets=[{"name": "glyphs", "script": "greek", "classes": 40, "instances_per_class": 6}],
    embedding_dims=[8],
    losses=["contrastive", "proxy_anchor"],
    search={"trials": 2, "early_stopping": "none"},
    final={"seeds": 1},
    training={"epochs": 1},
)
study.run(local=True);
"""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    folder = tmp_path_factory.mktemp("notebook")
    client = NotebookClient(notebook, timeout=200, resources={"metadata": {"path": str(folder)}})
    client.execute()
    return notebook.cells[0].outputs


def test_a_cell_has_one_display_that_ends_with_all_trials_done(outputs):
    (shown,) = [output.data for output in outputs if output.output_type == "display_data"]
    assert shown["text/html"].startswith("<progress max=")
    assert "<b>" in shown["text/html"]
    assert "0 of" not in shown["text/html"]


def test_messages_of_a_run_are_not_shown_as_errors(outputs):
    streams = {output.name: output.text for output in outputs if output.output_type == "stream"}
    assert "Running 1 trial at a time" in streams["stdout"]
    assert "stderr" not in streams
