"""``control.yaml``: fewer or more trials at a time, and cancelled searches, while a study runs."""

import threading
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest
from polars.testing import assert_frame_equal

from podium.analysis.figures.series import series_of
from podium.analysis.page.html_page import Paragraph
from podium.analysis.report.compute_cost import compute_cost
from podium.analysis.study_results.study_results import read_results
from podium.errors import StudyError
from podium.live.followed_study import FollowedStudy
from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.records.runs import read_runs
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.run import study_control
from podium.orchestrator.run.run_study import Console, run_study
from podium.orchestrator.run.study_control import (
    control_text,
    read_control,
    search_names,
    write_control,
)
from podium.orchestrator.study.resource_demand import Capacity
from podium.orchestrator.study.study import Control, KeepSettings
from podium.orchestrator.verify.verify_store import verify_store
from tests.orchestrator.scripted import TINY, ScriptedExecutor
from tests.orchestrator.small_study import STUDY, InterruptedAfter, rows, run_here, tables

LARGE = Capacity(cpus=8.0, gpus=0.0)
WIDE = replace(STUDY, search=replace(STUDY.search, order="asynchronous"))
ONE_BLOCK = replace(WIDE, embedding_dims=(8,), keep=KeepSettings(models=False, embeddings=False))


@pytest.fixture(autouse=True)
def read_at_once(monkeypatch):
    monkeypatch.setattr(study_control, "_READ_SECONDS", 0.0)


def control_file(storage, study):
    return storage / study.name / "control.yaml"


def edits(file, *texts, every=5):
    """Writes these texts one after the other, so many steps apart."""
    left, steps = list(texts), 0

    def at_step(scheduler, jobs):
        nonlocal steps
        steps += 1
        if left and steps % every == 0:
            file.write_text(left.pop(0))

    return at_step


def cancelled_run(storage, study=ONE_BLOCK, **options):
    """The names of its searches are those of its losses."""
    at_step = edits(control_file(storage, study), "cancel: [proxy_anchor]")
    return run_here(study, storage, ScriptedExecutor(at_step=at_step, **options))


def test_of_many_cancelled_searches_a_few_are_named():
    study = replace(STUDY, embedding_dims=(8, 16, 32))
    cancelled = frozenset(search_names(study))
    text = control_text(study, Control(cancelled=cancelled, is_paused=True))
    assert text.startswith("paused; cancelled glyphs-greek/conv_small/16 contrastive, ")
    assert text.endswith(" and 3 more")
    assert control_text(study, Control()) == "nothing is changed"


def test_fewer_and_then_more_trials_at_a_time(tmp_path):
    at_step = edits(
        control_file(tmp_path, WIDE), "max_concurrent: 1", "max_concurrent: 3", every=40
    )
    executor = ScriptedExecutor(capacity=LARGE, at_step=at_step)
    end = run_here(WIDE, tmp_path, executor)
    numbers = [len(jobs) for jobs in executor.together]
    assert numbers[0] == 8
    fewest = numbers.index(1)
    assert numbers[:fewest] == sorted(
        numbers[:fewest], reverse=True
    )  # those that ran are finished
    assert max(numbers[fewest:]) == 3
    assert end.progress.failed == 0


def test_a_paused_study_starts_nothing_until_it_is_resumed(tmp_path):
    file = control_file(tmp_path, WIDE)
    looks = []

    def at_step(scheduler, jobs):
        if len(looks) == 5:
            file.write_text("pause: true")
        looks.append(len(jobs))

    executor = ScriptedExecutor(capacity=LARGE, at_step=at_step)
    resuming = threading.Timer(1.0, file.write_text, ["pause: false"])
    resuming.start()
    began = time.monotonic()
    end = run_here(WIDE, tmp_path, executor)
    resuming.join()
    assert time.monotonic() - began > 1.0
    assert 1 in looks[5:], "those that ran were finished, one after the other"
    assert end.progress.trials_done == end.progress.trials_planned


def test_a_paused_study_can_be_stopped(tmp_path):
    paths = StudyPaths(tmp_path / TINY.name)
    paths.folder.mkdir()
    write_control(TINY, paths, Control(is_paused=True))
    stops = []

    @contextmanager
    def stoppable(scheduler):
        stops.append(threading.Timer(0.5, scheduler.stop))
        stops[0].start()
        yield

    end = run_study(
        TINY,
        paths,
        start_executor=InProcessExecutor,
        console=Console(say=lambda line: None, stoppable=stoppable),
        trains_here=True,
    )
    assert end.interrupted
    assert end.progress.trials_done == 0


def test_a_cancelled_search_starts_no_other_trial_and_has_no_finals(tmp_path):
    said = []
    at_step = edits(control_file(tmp_path, ONE_BLOCK), "cancel: [proxy_anchor]")
    executor = ScriptedExecutor(capacity=LARGE.at_most(2), at_step=at_step)
    end = run_here(ONE_BLOCK, tmp_path, executor, say=said.append)
    assert not end.interrupted
    assert end.progress.trials_done == end.progress.trials_planned
    trials = rows(tmp_path, ONE_BLOCK)
    cancelled = trials.filter(loss="proxy_anchor")
    assert set(cancelled["stage"]) == {"search"}
    assert 0 < len(cancelled) < 6
    assert set(cancelled["state"]) <= {"COMPLETE", "PRUNED"}
    other = trials.filter(loss="contrastive")
    assert len(other.filter(stage="search")) == 6
    assert len(other.filter(stage="final")) > 0
    assert "control.yaml: cancelled proxy_anchor" in said
    assert f"proxy_anchor: cancelled by the user after {len(cancelled)} of 6 trials" in said


def test_the_record_status_verify_and_report_know_what_was_cancelled(tmp_path):
    cancelled_run(tmp_path)
    folder = tmp_path / ONE_BLOCK.name
    ((search, had),) = read_runs(StudyPaths(folder))[-1].cancelled_searches.items()
    assert ".proxy_anchor." in search
    shown = FollowedStudy(folder).view().progress.searches
    assert [(it.id, it.done) for it in shown if it.is_cancelled] == [(search, had)]
    findings = verify_store(folder)
    assert findings.problems == []
    results = read_results(folder)
    section = compute_cost(results, series_of(results.losses))
    said = [part.text for part in section.parts if isinstance(part, Paragraph)]
    assert f"Cancelled by the user, and so without a test: {search} after {had} trials." in said


def test_a_later_run_keeps_it_cancelled_and_undone_it_ends_as_if_it_never_had_been(
    tmp_path,
):
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    run_here(STUDY, whole)
    run_here(STUDY, stopped, InterruptedAfter(9))
    file = control_file(stopped, STUDY)
    file.write_text("cancel: [glyphs-greek/conv_small/8 proxy_anchor]")
    end = run_here(STUDY, stopped)
    assert not end.interrupted
    assert [search.is_cancelled for search in end.progress.searches].count(True) == 1
    assert run_here(STUDY, stopped).progress == end.progress
    file.unlink()
    assert not run_here(STUDY, stopped).interrupted
    assert_frame_equal(tables(stopped, STUDY), tables(whole, STUDY))


def test_a_search_that_has_started_all_its_trials_is_not_cancelled(tmp_path):
    run_here(TINY, tmp_path)
    before = tables(tmp_path, TINY)
    control_file(tmp_path, TINY).write_text("cancel: [proxy_anchor]")
    end = run_here(TINY, tmp_path)
    assert not any(search.is_cancelled for search in end.progress.searches)
    assert_frame_equal(tables(tmp_path, TINY), before)


def test_a_wrong_edit_is_said_once_with_its_line_and_changes_nothing(tmp_path, undisturbed_tiny):
    said = []
    wrong = "max_concurrent: 1\ncancel: [proxy_anker]"
    executor = ScriptedExecutor(at_step=edits(control_file(tmp_path, TINY), wrong, every=1))
    run_here(TINY, tmp_path, executor, say=said.append)
    (warning,) = [line for line in said if "control.yaml" in line]
    assert 'control.yaml:2: no search has this name; got "proxy_anker"' in warning
    assert "did you mean proxy_anchor? choices: contrastive, proxy_anchor" in warning
    assert "Nothing is changed until it is corrected" in warning
    assert_frame_equal(tables(tmp_path, TINY), undisturbed_tiny)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("max_concurrent: 0", r"yaml:1: max_concurrent must be greater than or equal to 1"),
        ("\nmost: 3", r"yaml:2: unknown key; got \"most\"; choices: budget, cancel, max_c"),
        ("cancel: proxy_anchor", r"yaml:1: cancel must be a list"),
        ("cancel: [", r"yaml:\d"),
        (b"\xff", "it is not UTF-8 at byte 0"),
    ],
)
def test_a_wrong_file_is_refused_at_the_start(tmp_path, text, told):
    file = control_file(tmp_path, TINY)
    file.parent.mkdir()
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(StudyError, match=told):
        run_here(TINY, tmp_path)


def test_what_is_written_is_read_again_searches_by_name(tmp_path):
    paths = StudyPaths(tmp_path)
    search_id = next(it for it in study_control.search_names(TINY) if "proxy_anchor" in it)
    control = Control(max_concurrent=3, cancelled=frozenset([search_id]), is_paused=True)
    write_control(TINY, paths, control)
    assert (
        tmp_path / "control.yaml"
    ).read_text() == "max_concurrent: 3\ncancel:\n- proxy_anchor\npause: true\n"
    assert read_control(TINY, paths) == control
    with pytest.raises(StudyError, match="greater than or equal to 1; got 0"):
        write_control(TINY, paths, replace(control, max_concurrent=0))
    assert read_control(TINY, paths) == control
