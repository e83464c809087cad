"""What verify says of sound folders, of folders under way, and of every rule that is broken."""

import os
import re
from dataclasses import replace

import pytest

from orchestrator.results.locks.study_lock import StudyLock
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.trial_files.gather_trials import gather_all, gather_search
from orchestrator.study.study import FinalSettings
from orchestrator.verify.verify_store import verify_store
from podium.errors import LockHeldError, PodiumError
from tests.orchestrator.damaged_stores import (
    TINY,
    a_file,
    careful_trial,
    copy_of,
    problems,
    run,
)
from tests.orchestrator.small_study import LISTED, InterruptedAfter
from trainables.settings.trial_settings import ProtocolSettings

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
    "random": replace(TINY, search=replace(TINY.search, sampler="random", order="asynchronous")),
    "grid": replace(
        TINY, losses=(LISTED,), search=replace(TINY.search, sampler="grid", tune=(), trials=6)
    ),
}


def notes(folder):
    return "\n".join(map(str, verify_store(folder).notes))


@pytest.mark.parametrize("name", WHOLE)
def test_every_kind_of_study_is_sound(tmp_path, name):
    run(tmp_path, WHOLE[name])
    found = verify_store(tmp_path / TINY.name, replay=True)
    assert found.problems == []
    assert found.checked["trials"] >= 7
    assert found.checked["ids recomputed"] >= 12


def test_a_study_is_sound_after_every_step(tmp_path):
    while run(tmp_path, TINY, InterruptedAfter(7, careful_trial)).interrupted:
        assert problems(tmp_path / TINY.name, replay=True) == ""
    assert notes(tmp_path / TINY.name) == ""


def test_what_was_checked_is_counted(finished):
    checked = verify_store(finished.folder, replay=True).checked
    assert checked["trials"] == checked["attempts"] == 8
    assert (checked["asks"], checked["searches"], checked["searches replayed"]) == (5, 1, 1)
    assert checked["weights and embeddings"] == 2 + 3


def test_verify_changes_nothing(interrupted):
    before = {path: path.stat().st_mtime_ns for path in interrupted.folder.rglob("*")}
    verify_store(interrupted.folder, replay=True)
    assert {path: path.stat().st_mtime_ns for path in interrupted.folder.rglob("*")} == before


def test_a_study_that_grew_is_sound_and_says_why_it_is_not_drawn_again(tmp_path):
    run(tmp_path)
    run(tmp_path, replace(TINY, search=replace(TINY.search, trials=8)))
    found = verify_store(tmp_path / TINY.name, replay=True)
    assert found.problems == []
    assert "had a different number of trials when they began" in "\n".join(map(str, found.notes))


def test_in_asynchronous_order_it_says_what_cannot_be_drawn_again(tmp_path):
    run(tmp_path, WHOLE["asynchronous"])
    found = verify_store(tmp_path / TINY.name, replay=True)
    assert "in asynchronous order what tpe suggests follows" in str(found.notes[0])


def test_what_is_under_way_is_a_note(interrupted, tmp_path):
    paths = copy_of(interrupted, tmp_path)
    half = paths.trials / "search=s" / ".t.parquet.0123456789abcdef.tmp"
    half.parent.mkdir()
    half.write_bytes(b"half")
    (paths.folder / "notes.txt").write_text("mine")
    (paths.folder / "pictures").mkdir()
    (paths.folder / "pictures" / "a.png").write_bytes(b"")
    for stray in ("trials/a.txt", "asks/b.json~", "attempts/c.log"):
        (paths.folder / stray).write_text("mine")
    with StudyLock(paths, lambda line: None):
        found = notes(paths.folder)
        assert problems(paths.folder) == ""
    assert "lock.json: held by process" in found
    assert "1 trials were suggested and have no row" in found
    assert "1 half-written files" in found
    told = re.findall(r"(\S+): is not podium's", found)
    strays = ["asks/b.json~", "attempts/c.log", "notes.txt", "pictures", "trials/a.txt"]
    assert sorted(told) == [str(paths.folder / stray) for stray in strays]


def test_a_gathering_meanwhile_gives_no_false_alarm(interrupted, tmp_path):
    paths = copy_of(interrupted, tmp_path)
    lines = []

    def gather_in_between(line):
        lines.append(line)
        if len(lines) == 2:
            gather_all(paths)

    found = verify_store(paths.folder, tell=gather_in_between)
    assert found.problems == []
    assert found.checked["trials"] == verify_store(interrupted.folder).checked["trials"]


def test_what_a_killed_gathering_left_is_a_note(interrupted, tmp_path):
    paths = copy_of(interrupted, tmp_path)
    file = a_file(paths, "trials/*/*.parquet")
    gather_search(paths, StudyPaths.search_of(file), [])
    assert problems(paths.folder) == ""
    assert "files hold rows that were gathered in others" in notes(paths.folder)
    file.write_bytes(file.read_bytes()[:-9])
    assert f"{file}: " in problems(paths.folder)


def test_lost_rows_are_one_problem_and_few_notes(finished, tmp_path):
    paths = copy_of(finished, tmp_path)
    whole = a_file(paths, "trials/*/*.gathered.parquet")
    whole.write_bytes(whole.read_bytes()[:1000])
    found = verify_store(paths.folder)
    assert len(found.problems) == 1
    told = notes(paths.folder)
    assert "6 trials ended and have no row" in told
    assert "2 files belong to trials that have no row" in told
    assert len(found.notes) <= 6


def test_rows_that_a_copy_of_the_folder_lacks_are_named(interrupted, tmp_path):
    paths = copy_of(interrupted, tmp_path)
    a_file(paths, "trials/*/*.parquet").unlink()
    assert "runs completed: the folder was copied in part" in problems(paths.folder)


def test_two_runs_at_once_are_refused_and_verify_may_look_on(interrupted, tmp_path):
    paths = copy_of(interrupted, tmp_path)
    with StudyLock(paths, lambda line: None):
        with pytest.raises(LockHeldError, match=f"locked: process {os.getpid()} on") as refused:
            run(tmp_path)
        assert problems(paths.folder) == ""
    assert refused.value.exit_code == 4
    assert not run(tmp_path).interrupted


def test_what_is_no_results_folder_is_refused(tmp_path):
    with pytest.raises(PodiumError, match="is not a results folder of podium"):
        verify_store(tmp_path)
