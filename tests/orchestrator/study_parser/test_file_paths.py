"""Paths in a study file begin at its folder; those of the command line where it is called."""

import os
import re
import threading
from pathlib import Path

import pytest

from podium.arguments.study_argument import results_folder
from podium.errors import StudyError
from podium.orchestrator.study_validation.load_study import load_study

STUDY = "study: x\nlosses: [contrastive]\n"

# Key -> the study with a path for it, and where the study holds the path.
KEYS = {
    "datasets[0].root": (
        "datasets: [{name: cub200, root: PATH}]",
        lambda study: study.datasets[0].options["root"],
    ),
    "datasets[0].class_text": (
        "datasets: [{name: glyphs, class_text: PATH}]",
        lambda study: study.datasets[0].options["class_text"],
    ),
    "backbones[0].weights": (
        "backbones: [{name: resnet50, weights: PATH}]",
        lambda study: study.backbones[0].weights,
    ),
    "search.warm_start.from": (
        "search: {warm_start: {from: PATH}}",
        lambda study: study.search.warm_start.folder,
    ),
    "storage": ("storage: PATH", lambda study: study.storage),
}


@pytest.fixture
def places(tmp_path, monkeypatch):
    """The folder of the study file, and the current one."""
    (tmp_path / "studies").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "studies", tmp_path / "here"


def load(folder, text, *overrides):
    file = folder / "study.yaml"
    file.write_text(STUDY + text)
    return load_study(Path(os.path.relpath(file)), overrides)


def problem(folder, text):
    with pytest.raises(StudyError) as raised:
        load(folder, text)
    return str(raised.value)


@pytest.mark.parametrize("key", KEYS)
def test_a_relative_path_begins_at_the_folder_of_the_study_file(places, key):
    text, found = KEYS[key]
    study = load(places[0], text.replace("PATH", "data/a.b"))
    assert os.path.normpath(found(study)) == str(places[0] / "data" / "a.b")


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("given", ["/far/a.b", "~/a.b"])
def test_an_absolute_path_and_one_below_the_home_folder_are_what_they_are(places, key, given):
    text, found = KEYS[key]
    study = load(places[0], text.replace("PATH", given))
    assert found(study) == str(Path(given).expanduser())


@pytest.mark.parametrize("key", ["search.warm_start.from", "storage"])
def test_a_uri_is_what_it_is(places, key):
    text, found = KEYS[key]
    given = "s3://bucket/folder?region=eu"
    assert found(load(places[0], text.replace("PATH", f"'{given}'"))) == given


def test_a_path_of_the_command_line_begins_at_the_current_folder(places):
    study = load(places[0], "", "storage=results", "datasets=[{name: cub200, root: data}]")
    assert study.storage == str(places[1] / "results")
    assert study.datasets[0].options["root"] == str(places[1] / "data")


def test_results_go_below_the_current_folder_unless_the_study_says_otherwise(places):
    assert load(places[0], "").storage == "podium-results"


def test_results_are_found_from_every_folder(places, monkeypatch):
    study = places[0] / "study.yaml"
    study.write_text(STUDY + "storage: results")
    expected = places[0] / "results" / "x"
    assert results_folder(study) == expected
    monkeypatch.chdir("/")
    assert results_folder(study) == expected
    assert results_folder(study, Path("elsewhere")) == Path("elsewhere/x")


def test_a_study_from_a_pipe_has_no_folder_of_its_own(places):
    pipe = places[0] / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(STUDY + "storage: results",))
    writer.start()
    assert load_study(pipe).storage == str(places[1] / "results")
    writer.join()


def test_the_home_folder_of_nobody_is_one_error(places):
    message = problem(places[0], "storage: ~nobody-of-that-name/a")
    assert re.search(
        r"study.yaml:3: storage begins at a home folder that does not exist; got .~nobody", message
    )
