"""``podium report``: where it writes, what it refuses, what it does not load."""

import subprocess
import sys
from pathlib import Path

import pytest

from podium.cli import main
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth

CUB200 = Path(__file__).parents[2] / "studies" / "thesis_cub200.csv"
GOLDEN = Path(__file__).parents[1] / "data" / "thesis_recall_cub200.csv"
SMALL = Truth(scripts=("greek", "latin"), embedding_dims=(16,), search_trials=4, seeds=2)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return write_store(tmp_path_factory.mktemp("store") / "synthetic", SMALL)


def podium(*arguments):
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return end.value.code


def test_a_study_is_reported_in_its_own_folder(store, capsys):
    assert podium("report", store) == 0
    assert capsys.readouterr().out.strip() == str(store / "report.html")
    assert "proxy_anchor leads 3 over" in (store / "report.html").read_text()


def test_the_report_does_not_change_the_next_report(store):
    podium("report", store)
    first = (store / "report.html").read_bytes()
    podium("report", store)

    assert (store / "report.html").read_bytes() == first


def test_the_page_goes_where_it_is_told_and_links_to_its_neighbours(store, tmp_path):
    page = tmp_path / "new" / "page.html"

    assert podium("report", store, "--output", page, "--also", "thesis cub200.html") == 0
    assert '<a href="thesis%20cub200.html">thesis cub200</a>' in page.read_text()


def test_a_table_is_ranked(tmp_path):
    page = tmp_path / "thesis.html"
    where = ("--by", "dataset,backbone,embedding_dim", "--where", "k=1")

    assert podium("report", CUB200, *where, "--output", page) == 0
    assert "ProxyAnchor is first of 10 over 12 blocks" in page.read_text()


def test_the_shipped_table_is_the_golden_one():
    assert CUB200.read_bytes() == GOLDEN.read_bytes()


def test_a_table_that_still_holds_several_k_is_refused(capsys, tmp_path):
    page = tmp_path / "thesis.html"

    assert podium("report", CUB200, "--output", page) == 2
    assert "keep one with --where" in capsys.readouterr().err
    assert not page.exists()


def test_options_of_tables_are_refused_for_studies(store, capsys):
    assert podium("report", store, "--where", "k=1") == 2
    assert "--where goes with a table (.csv or .parquet)" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["nowhere", "nowhere.csv"])
def test_nothing_to_report_is_an_error(missing, tmp_path, capsys):
    assert podium("report", tmp_path / missing) == 2
    assert missing in capsys.readouterr().err


def test_an_empty_folder_is_no_results_folder(tmp_path, capsys):
    assert podium("report", tmp_path) == 2
    assert str(tmp_path) in capsys.readouterr().err


def test_an_output_that_cannot_be_written_is_a_store_error(store, tmp_path, capsys):
    (tmp_path / "file").touch()

    assert podium("report", store, "--output", tmp_path / "file" / "page.html") == 4
    assert "cannot write" in capsys.readouterr().err


def test_a_report_loads_neither_torch_nor_ray_nor_pyplot(store):
    script = (
        "import sys\n"
        "from podium.cli import main\n"
        f"try: main(['report', {str(store)!r}])\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "heavy = {'torch', 'ray', 'optuna', 'matplotlib.pyplot', 'scipy.stats'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
