"""What is followed of a study, against what commands say of it; and that little is read again."""

import os
import platform
import shutil
from contextlib import ExitStack
from dataclasses import replace

import pytest

from orchestrator.results.locks.study_lock import StudyLock
from orchestrator.results.records.runs import Part, read_runs, write_run, write_run_count
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.trial_files.compaction import compact
from orchestrator.results.trial_files.reader import Reader
from orchestrator.results.trial_files.withdraw_trials import withdraw_trials
from orchestrator.results_tools.study_status import study_status
from podium.errors import UnreachableError
from podium.live import followed_study
from podium.live.followed_study import FollowedStudy
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.orchestrator.small_study import STUDY, run_here
from tests.podium.live.running_study import RUNNING, SEARCH, running, stopped_study


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    return stopped_study(tmp_path_factory.mktemp("stopped"))


@pytest.fixture
def folder(tmp_path, stopped):
    return shutil.copytree(stopped, tmp_path / STUDY.name)


def counts_of(view):
    return [
        (search_id, it.name, it.done, it.pruned, it.failed, it.finals_done)
        for search_id, it in zip(view.search_ids, view.progress.searches, strict=True)
    ]


def counts_of_status(folder):
    names = ("search", "name", "trials", "pruned", "failed", "finals")
    return [tuple(row[name] for name in names) for row in study_status(folder).searches]


def test_counts_are_those_of_status_of_a_stopped_and_of_a_finished_study(folder, tmp_path):
    followed = FollowedStudy(folder)
    view = followed.view()
    assert counts_of(view) == counts_of_status(folder)
    assert view.state == "stopped"
    assert not view.is_over
    run_here(STUDY, tmp_path)
    view = followed.view()
    assert counts_of(view) == counts_of_status(folder)
    assert view.state == "complete"
    assert view.is_over
    assert view.progress.trials_done == view.progress.trials_planned


def test_a_report_of_an_earlier_end_is_not_that_of_the_study_as_it_ended(folder, tmp_path):
    (folder / "report.html").write_text("of fewer trials")
    followed = FollowedStudy(folder)
    assert not followed.view().has_report
    run_here(STUDY, tmp_path)
    view = followed.view()
    assert (view.is_over, view.has_report) == (True, False)
    (folder / "report.html").write_text("of all trials")
    assert followed.view().has_report
    assert FollowedStudy(folder).view().has_report


def test_a_study_that_ends_with_its_report_while_it_is_read_has_that_report(
    folder, tmp_path, monkeypatch
):
    followed, running_owners = FollowedStudy(folder), followed_study.running_owners
    with ExitStack() as run:
        run.enter_context(running(folder))

        def ends_now(*arguments):
            owners = running_owners(*arguments)
            run.close()
            run_here(STUDY, tmp_path)
            (folder / "report.html").write_text("of all trials")
            return owners

        monkeypatch.setattr(followed_study, "running_owners", ends_now)
        view = followed.view()
    assert (view.state, view.has_report) == ("running", False)
    monkeypatch.undo()
    view = followed.view()
    assert (view.is_over, view.has_report) == (True, True)


def test_counts_are_those_of_status_where_trials_were_pruned_and_failed(tmp_path):
    truth = Truth(failed_finals=(("glyphs-greek/conv_small/8", "contrastive"),))
    store = write_store(tmp_path / "synthetic", truth)
    view = FollowedStudy(store).view()
    assert counts_of(view) == counts_of_status(store)
    assert sum(it.pruned for it in view.progress.searches)
    assert view.progress.failed == len(view.failures) > 0
    assert view.failures[0].cause
    assert view.progress.failures


def test_a_running_study_shows_slots_gpus_time_left_and_the_curve_of_its_trial(folder):
    followed = FollowedStudy(folder)
    assert followed.view().slots is None
    with running(folder):
        view = followed.view()
        assert (view.state, view.slots, view.progress.seconds_left) == ("running", 2, 90.0)
        assert view.progress.running == 1
        (search,) = (it for it in view.progress.searches if it.running)
        assert view.search_ids[view.progress.searches.index(search)] == SEARCH
        curve = view.curves[0]
        assert (curve.trial_id, curve.state) == (RUNNING.trial_id, "RUNNING")
        assert curve.scores == {(0, 1): 0.25, (0, 2): 0.5}
        assert (curve.node, curve.gpus) == ("node-a", 0.5)
    view = followed.view()
    assert view.state == "stopped"
    assert view.progress.running == 0
    assert all(it.state != "RUNNING" for it in view.curves)


def test_curves_of_ended_trials_and_what_was_spent_come_from_their_rows(folder):
    view = FollowedStudy(folder).view()
    assert view.curves
    assert all(curve.scores for curve in view.curves)
    assert view.spent[-1].trials == view.progress.trials_done
    assert [it.trials for it in view.spent] == sorted(it.trials for it in view.spent)


def test_a_file_that_did_not_change_is_not_opened_again(folder):
    followed = FollowedStudy(folder)
    before = followed.view()
    file = next(folder.glob("trials/*/*.parquet"))
    status = file.stat()
    file.write_bytes(b"\0" * status.st_size)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert counts_of(followed.view()) == counts_of(before)
    other = file.with_suffix(".other")
    other.write_bytes(b"\0" * (status.st_size + 1))
    other.replace(file)
    after = followed.view()
    assert file.stem in after.problem
    assert after.progress.trials_done == before.progress.trials_done - 1


def test_damaged_files_are_left_out_until_they_are_whole_again(folder):
    files = sorted(folder.glob("trials/*/*.parquet"))
    contents = [file.read_bytes() for file in files]
    damaged = files[1::4]
    for file in damaged:
        file.write_bytes(file.read_bytes()[:-100])
    followed = FollowedStudy(folder)
    view = followed.view()
    assert view.progress.trials_done == len(files) - len(damaged)
    assert any(file.stem in view.problem for file in damaged)
    for file, content in zip(files, contents, strict=True):
        file.write_bytes(content)
    view = followed.view()
    assert counts_of(view) == counts_of_status(folder)
    assert view.problem is None


def test_what_was_listed_while_the_storage_was_away_is_read_later(folder, monkeypatch):
    followed = FollowedStudy(folder)
    with monkeypatch.context() as away:
        away.setattr(Reader, "rows_of", raising(UnreachableError("away")))
        with pytest.raises(UnreachableError):
            followed.view()
    assert counts_of(followed.view()) == counts_of_status(folder)


def raising(error):
    def fail(*given):
        raise error

    return fail


def test_a_wrong_control_file_is_told_and_changes_nothing(folder):
    followed = FollowedStudy(folder)
    (folder / "control.yaml").write_text("max_concurrent: 3\n")
    assert followed.view().control.max_concurrent == 3
    (folder / "control.yaml").write_text("max_concurrent: 0\n")
    view = followed.view()
    assert (view.control.max_concurrent, view.control_text) == (3, "max_concurrent 3")
    assert "at least 1; got 0" in view.problem
    (folder / "control.yaml").unlink()
    view = followed.view()
    assert (view.control.max_concurrent, view.control_text, view.problem) == (None, "", None)


def test_reading_again_opens_no_file_of_a_trial_that_is_known(folder, monkeypatch):
    followed = FollowedStudy(folder)
    with running(folder):
        before = followed.view()
        monkeypatch.setattr(Reader, "rows_of", raising(AssertionError("read again")))
        assert counts_of(followed.view()) == counts_of(before)


def test_withdrawn_trials_vanish_and_compacted_ones_stay(folder):
    followed = FollowedStudy(folder)
    before = followed.view()
    compact(StudyPaths(folder))
    assert not list(folder.glob("trials/*/*.parquet"))
    assert counts_of(followed.view()) == counts_of(before)
    withdrawn = before.curves[0].trial_id
    withdraw_trials(StudyPaths(folder), {withdrawn: before.curves[0].search_id})
    after = followed.view()
    assert after.progress.trials_done == before.progress.trials_done - 1
    assert withdrawn not in {curve.trial_id for curve in after.curves}
    assert counts_of(after) == counts_of_status(folder)


def test_what_drivers_of_parts_run_is_shown_together(folder):
    """One was killed: what it left in its account runs no more."""
    paths, before = StudyPaths(folder), read_runs(StudyPaths(folder))
    for number, part in enumerate(Part(1, 3).all, start=len(before) + 1):
        trial = replace(RUNNING, trial_id=f"running{number}")
        run = replace(before[-1], number=number, end=None, part=part, slots=2, running=(trial,))
        write_run(paths, replace(run, seconds_left=10.0 * number))
        write_run_count(paths, number)
    first, last = (StudyLock(paths, print, part) for part in (Part(1, 3), Part(3, 3)))
    with first, last:
        view = FollowedStudy(folder).view()
    assert (view.state, view.running_on) == ("running", platform.node())
    assert (view.progress.running, view.slots) == (2, 4)
    assert view.progress.seconds_left == 10.0 * (len(before) + 3)
    assert FollowedStudy(folder).view().state == "stopped"
