"""What verify says of sound folders, of folders under way, and of every rule that is broken."""

from dataclasses import replace

import pytest
from PIL import Image

from podium.errors import PodiumError
from podium.orchestrator.results.locks.study_lock import StudyLock
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.gather_trials import gather_all, gather_search
from podium.orchestrator.study.study import FinalSettings
from podium.orchestrator.verify.verify_store import verify_store
from podium.trainables.settings.trial_settings import DatasetSettings, ProtocolSettings
from tests.orchestrator.damaged_stores import (
    TINY,
    a_file,
    careful_trial,
    copy_of,
    flip,
    problems,
    run,
)
from tests.orchestrator.small_study import LISTED, InterruptedAfter

KFOLD = ProtocolSettings(kind="kfold", val_fraction=None, folds=2)
WHOLE = {
    "asynchronous": replace(TINY, search=replace(TINY.search, order="asynchronous")),
    "folds": replace(TINY, protocols=(KFOLD,)),
    "tested on what chose": replace(
        TINY, protocols=(ProtocolSettings(kind="test_tuned", val_fraction=None),)
    ),
    "all classes": replace(TINY, final=FinalSettings(seeds=1, train_on=("part", "all"))),
    "recorded": replace(TINY, quarantine="record"),
    "repeats": replace(TINY, search=replace(TINY.search, repeats=2, splits="same")),
    "several protocols": replace(TINY, protocols=(*TINY.protocols, KFOLD)),
    "grid": replace(
        TINY, losses=(LISTED,), search=replace(TINY.search, sampler="grid", tune=(), trials=6)
    ),
}


@pytest.mark.parametrize("name", WHOLE)
def test_every_kind_of_study_is_sound(tmp_path, name):
    run(tmp_path, WHOLE[name])
    found = verify_store(tmp_path / TINY.name)
    assert found.problems == []
    assert found.checked["trials"] >= 7
    assert found.checked["ids recomputed"] >= 12


def test_a_study_is_sound_after_every_step(tmp_path):
    while run(tmp_path, TINY, InterruptedAfter(7, careful_trial)).interrupted:
        assert problems(tmp_path / TINY.name) == ""
    run(tmp_path, replace(TINY, search=replace(TINY.search, trials=8)))  # and the study grows
    found = verify_store(tmp_path / TINY.name)
    assert (found.problems, found.notes, found.checked["asks"]) == ([], [], 8)


def test_verify_counts_what_it_checks_and_changes_nothing(finished):
    before = {path: path.stat().st_mtime_ns for path in finished.folder.rglob("*")}
    checked = verify_store(finished.folder).checked
    assert checked["trials"] == checked["attempts"] == 9
    assert (checked["asks"], checked["searches"]) == (5, 1)
    assert checked["weights and embeddings"] == 2 + 4
    assert {path: path.stat().st_mtime_ns for path in finished.folder.rglob("*")} == before


@pytest.mark.parametrize("moment", ["loading the data set", "reading the trials"])
def test_a_gathering_meanwhile_gives_no_false_alarm(interrupted, tmp_path, moment):
    paths = copy_of(interrupted, tmp_path)
    told = []

    def gather_in_between(line):
        if line.startswith(moment):
            told.append(line)
            gather_all(paths)

    found = verify_store(paths.folder, tell=gather_in_between)
    assert told
    assert found.problems == []
    assert (found.checked["trials"], found.checked["asks"], found.checked["attempts"]) == (2, 3, 3)


def test_what_a_killed_gathering_left_is_no_problem_until_it_is_damaged(interrupted, tmp_path):
    paths = copy_of(interrupted, tmp_path)
    file = a_file(paths, "trials/*/*.parquet")
    gather_search(paths, StudyPaths.search_of(file))
    assert problems(paths.folder) == ""
    file.write_bytes(file.read_bytes()[:-9])
    assert f"{file} " in problems(paths.folder)


def test_every_damaged_file_is_named_once(finished, tmp_path):
    paths = copy_of(finished, tmp_path)
    rows = a_file(paths, "trials/*/*.gathered.parquet")
    damaged = [paths.provenance, paths.run(1), rows, *paths.folder.glob("embeddings/*")]
    for file in damaged:
        flip(file, 8 * (file.stat().st_size // 2))
    found = verify_store(paths.folder)
    assert len(found.problems) == len(damaged)
    assert all(any(str(file) in line for line in found.problems) for file in damaged)
    assert found.notes[-1] == "values were not checked, since files cannot be read"


CONTROLS = {
    b"paus: true": "control.yaml:1: unknown key",
    b"max_concurrent: 0": "max_concurrent must be greater than or equal to 1",
    b"budget: {gpu_hours: -1}": "budget.gpu_hours must be greater than 0",
    b"cancel: [nobody]": "no search has this name",
    b"pause: [1]": "pause must be true or false",
    b"a: &x [*x]": "anchors (& and *) are not read",
    b"\xff": "it is not UTF-8 at byte 0",
}


@pytest.mark.parametrize("content", CONTROLS)
def test_a_control_file_that_no_run_takes_is_named(interrupted, tmp_path, content):
    paths = copy_of(interrupted, tmp_path)
    paths.control.write_bytes(content)
    with StudyLock(paths, print):  # verify may look on
        assert CONTROLS[content] in problems(paths.folder)
    with pytest.raises(PodiumError, match=r"control\.yaml"):
        run(tmp_path)
    paths.control.write_text("pause: true")
    assert problems(paths.folder) == ""


def test_a_study_is_sound_without_its_images(tmp_path):
    for name in (*(f"train/{letter}" for letter in "abcdefgh"), "test/i", "test/j"):
        folder = tmp_path / "images" / name
        folder.mkdir(parents=True)
        for shade in range(4):
            Image.new("L", (8, 8), shade).save(folder / f"{shade}.png")
    images = DatasetSettings(name="folder", options={"root": str(tmp_path / "images")})
    run(tmp_path, replace(TINY, datasets=(images,), image_sizes=(8,)))
    assert verify_store(tmp_path / TINY.name).checked["ids recomputed"] == 14
    (tmp_path / "images").rename(tmp_path / "elsewhere")
    found = verify_store(tmp_path / TINY.name)
    assert (found.problems, found.checked["trials"]) == ([], 9)
