"""Commands take the studies and tables that podium ships by their names."""

import re
from pathlib import Path

import pytest

from podium.arguments.shipped_files import or_shipped
from tests.podium.calling import call, output_of

STUDIES = Path(__file__).parents[3] / "studies"
NAMES = sorted(file.stem for file in STUDIES.iterdir())


@pytest.fixture(autouse=True)
def empty_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_that_of_a_shipped_file(name):
    (file,) = (file for file in STUDIES.iterdir() if file.stem == name)
    assert or_shipped(Path(name)).samefile(file)


def test_a_file_or_folder_of_one_s_own_goes_before(empty_folder):
    (empty_folder / "quickstart").mkdir()
    (empty_folder / "protocols").touch()
    assert or_shipped(Path("quickstart")) == Path("quickstart")
    assert or_shipped(Path("protocols")) == Path("protocols")


@pytest.mark.parametrize("path", ["quickstart.yaml", "other/quickstart", "/quickstart", "."])
def test_paths_are_no_names(path):
    assert or_shipped(Path(path)) == Path(path)


@pytest.mark.parametrize("command", ["plan", "run", "status", "tournament", "report"])
def test_an_unknown_name_is_one_short_error_with_the_nearest_and_where_all_are(capsys, command):
    called = call(capsys, command, "quikstart")
    assert called.code == 2
    assert called.err.startswith("podium: what is read must be a file, a results folder, or")
    assert "got quikstart, which does not exist (did you mean 'quickstart'?)" in called.err
    (folder,) = re.findall(r"all: ls (\S+)\)", called.err)
    assert Path(folder).samefile(STUDIES)
    assert called.err.count("\n") == 1


def test_a_shipped_study_is_planned_with_the_table_that_it_expects(capsys):
    text = " ".join(output_of(capsys, "plan", "thesis-tables-cub").split())
    assert "480 published values" in text


def test_a_shipped_study_writes_its_results_below_the_current_folder(capsys, empty_folder):
    small = ("search.trials=1", "final.seeds=1", "training.epochs=1", "embedding_dims=[8]")
    words = [
        *(word for text in small for word in ("--set", text)),
        *("--set", "datasets=[{name: glyphs, script: greek, classes: 60}]"),
        *("--set", "losses=[proxy_anchor]", "--local", "--no-report"),
    ]
    assert call(capsys, "run", "quickstart", *words).code == 0
    assert [path.name for path in empty_folder.iterdir()] == ["podium-results"]
    assert (empty_folder / "podium-results" / "quickstart" / "store.json").exists()
    assert "trials" in output_of(capsys, "status", "quickstart")


def test_the_page_of_a_shipped_table_is_written_into_the_current_folder(capsys, empty_folder):
    assert output_of(capsys, "report", "gradml_table3", "--where", "k=1").strip().endswith(".html")
    assert [path.name for path in empty_folder.iterdir()] == ["gradml_table3.html"]


def test_a_table_in_place_of_a_study_is_one_problem(capsys):
    told = output_of(capsys, "plan", STUDIES / "thesis_cub200.csv", code=2)
    assert "1 problem with the study" in told
    assert "thesis_cub200.csv: a study is a YAML file; podium tournament ranks tables" in told


def test_a_root_that_is_a_file_is_said_to_be_one(capsys, tmp_path):
    root = tmp_path / "images.zip"
    root.touch()
    told = output_of(capsys, "init", tmp_path / "s.yaml", "--data", root, code=2)
    assert f"root must be a folder, and {root} is a file" in told
