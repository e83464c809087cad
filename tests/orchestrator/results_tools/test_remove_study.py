"""A results folder goes whole, and nothing else goes; a kill leaves nothing that looks whole."""

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import study_name
from orchestrator.results.storage.files import list_studies, put, stored_files
from orchestrator.results.trial_files.reader import Reader
from orchestrator.results_tools import remove_study as module
from orchestrator.results_tools.remove_study import remove_study
from orchestrator.results_tools.stored_studies import stored_study
from podium.errors import CorruptFileError, LockHeldError, PodiumError
from tests.orchestrator.results.locking import held_by_another_process
from tests.orchestrator.results_tools.conftest import SMALLEST
from tests.orchestrator.small_study import run_here


def test_a_study_goes_with_all_it_holds_and_its_neighbours_stay(study):
    neighbour = shutil.copytree(study, study.with_name("neighbour"))
    (study / "notes").mkdir()
    (study / "notes" / "mine.txt").write_text("mine")
    remove_study(study, print)
    assert list_studies(study.parent) == [neighbour]
    assert stored_study(neighbour).state == "complete"


def test_a_remote_study_goes_and_its_neighbours_stay(remote_study, bucket):
    put(bucket / "results" / "small-2" / "store.json", b"{}")
    remove_study(remote_study, print)
    assert [file.path for file in stored_files(bucket)] == ["results/small-2/store.json"]


def test_a_running_study_is_refused_here_and_remotely(study, remote_study):
    for folder in (study, remote_study):
        before = stored_files(folder)
        with held_by_another_process(folder), pytest.raises(LockHeldError, match="is running"):
            remove_study(folder, print)
        names = {file.path for file in stored_files(folder)}
        assert names >= {file.path for file in before}
        assert study_name(StudyPaths(folder)) == SMALLEST.name


def test_a_folder_that_only_has_a_studys_name_is_refused(tmp_path):
    foreign = tmp_path / "results" / SMALLEST.name
    (foreign / "trials").mkdir(parents=True)
    (foreign / "thesis.tex").write_text("years of work")
    with pytest.raises(PodiumError, match="not a results folder of podium"):
        remove_study(foreign, print)
    assert (foreign / "thesis.tex").read_text() == "years of work"
    assert sorted(path.name for path in foreign.iterdir()) == ["thesis.tex", "trials"]


def test_a_storage_of_studies_is_refused(study):
    with pytest.raises(PodiumError, match="not a results folder of podium"):
        remove_study(study.parent, print)
    shutil.copytree(study, study / "inner")
    with pytest.raises(PodiumError, match=r"holds another results folder, .*inner"):
        remove_study(study, print)
    assert stored_study(study / "inner").state == "complete"


def test_a_damaged_mark_of_the_folder_is_refused(study):
    (study / "store.json").write_text("{")
    with pytest.raises(CorruptFileError, match="not valid JSON"):
        remove_study(study, print)
    assert (study / "study.yaml").exists()


@pytest.mark.parametrize("place", ["models", "asks/deep"])
def test_links_are_refused_and_what_they_lead_to_stays(study, tmp_path, place):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("precious")
    link = study / place
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside)
    with pytest.raises(CorruptFileError, match="symbolic link"):
        remove_study(study, print)
    assert (outside / "precious").exists()
    assert (study / "study.yaml").exists()


def test_a_link_that_appears_after_the_check_goes_and_what_it_leads_to_stays(
    study, tmp_path, monkeypatch
):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("precious")
    (study / "models").symlink_to(outside)
    (study / "asks" / "deep").symlink_to(outside)
    monkeypatch.setattr(module, "check_removable", lambda folder: None)
    monkeypatch.setattr(module, "mark_removed", lambda paths: None)
    remove_study(study, print)
    assert not study.exists()
    assert (outside / "precious").exists()


def test_a_link_to_a_study_is_refused(study, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(study)
    with pytest.raises(PodiumError, match="is a link"):
        remove_study(link, print)
    assert stored_study(study).state == "complete"


def test_a_process_killed_at_any_line_leaves_nothing_that_looks_whole(finished, tmp_path):
    # Of the lines that a removal runs through the last ones and three others, seeded; each is a
    # process of its own.
    total = int(_remove_until(shutil.copytree(finished, tmp_path / "whole" / "small"), 0).stdout)
    for line in (*random.Random(7).sample(range(total // 2, total), 3), total - 2):
        folder = shutil.copytree(finished, tmp_path / str(line) / "small")
        assert _remove_until(folder, line).returncode == -signal.SIGKILL
        if stored_study(folder).state == "complete":
            assert Reader(folder).trials().collect().height == stored_study(folder).trials
            continue
        assert stored_study(folder).state in ("half removed", "not podium's")
        if (folder / "store.json").exists():
            with pytest.raises(PodiumError, match="half removed"):
                Reader(folder)
            with pytest.raises(PodiumError, match="half removed"):
                run_here(SMALLEST, folder.parent)
            remove_study(folder, print)
        assert [path.name for path in folder.rglob("*")] == []


def test_a_remote_removal_that_was_stopped_is_refused_by_all_and_finished_by_the_next(
    remote_study, monkeypatch
):
    def stopped(folder, kept):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, "remove_contents", stopped)
        with pytest.raises(KeyboardInterrupt):
            remove_study(remote_study, print)
    assert stored_study(remote_study).state == "half removed"
    with pytest.raises(PodiumError, match="half removed"):
        Reader(remote_study)
    remove_study(remote_study, print)
    assert stored_files(remote_study) == []


def _remove_until(folder, line):
    script = Path(__file__).with_name("remove_until_line.py")
    return subprocess.run(
        [sys.executable, script, str(folder), str(line)],
        check=False,
        capture_output=True,
        text=True,
    )
