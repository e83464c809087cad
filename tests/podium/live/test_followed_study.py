"""What is followed of a study, against what commands say of it; and that little is read again."""

import pytest

from podium.errors import CorruptFileError
from podium.live.followed_study import FollowedStudy
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.gather_trials import gather_all, withdraw_trials
from podium.orchestrator.results.trial_files.reader import Reader
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.orchestrator.small_study import STUDY, run_here
from tests.podium.live.running_study import running


def counts_of(view):
    """Name, trials, pruned and failed ones, and finals of each search that has begun."""
    return {
        (it.name, it.done, it.pruned, it.failed, it.finals_done)
        for it in view.progress.searches
        if it.done
    }


def counts_of_rows(folder):
    """The same, counted row by row."""
    found = {}
    for row in Reader(folder).trials().collect().iter_rows(named=True):
        if row["stage"] != "baseline":
            name = f"{row['block']} {row['loss']}"
            done, pruned, failed, finals = found.get(name, (0, 0, 0, 0))
            is_search = row["stage"] == "search"
            found[name] = (
                done + is_search,
                pruned + (is_search and row["state"] == "PRUNED"),
                failed + (row["state"] == "FAILED"),
                finals + (not is_search),
            )
    return {(name, *counts) for name, counts in found.items()}


def test_counts_are_those_of_the_rows_of_a_stopped_and_of_a_finished_study(folder, tmp_path):
    followed = FollowedStudy(folder)
    view = followed.view()
    assert counts_of(view) == counts_of_rows(folder)
    assert view.state == "stopped"
    run_here(STUDY, tmp_path)
    view = followed.view()
    assert counts_of(view) == counts_of_rows(folder)
    assert view.state == "complete"
    assert view.progress.trials_done == view.progress.trials_planned


def test_counts_are_those_of_the_rows_where_trials_were_pruned_and_failed(tmp_path):
    truth = Truth(failed_finals=(("glyphs-greek/conv_small/8", "contrastive"),))
    store = write_store(tmp_path / "synthetic", truth)
    view = FollowedStudy(store).view()
    assert counts_of(view) == counts_of_rows(store)
    assert sum(it.pruned for it in view.progress.searches)
    assert view.progress.failed == len(view.failures) > 0
    assert view.failures[0]["cause"]
    assert view.progress.failures


def test_a_running_study_shows_time_left_and_the_curve_of_its_trial(folder):
    followed = FollowedStudy(folder)
    with running(folder):
        view = followed.view()
        assert (view.state, view.progress.seconds_left) == ("running", 90.0)
        assert view.progress.running == 1
        (search,) = (it for it in view.progress.searches if it.running)
        assert search.name == "glyphs-greek/conv_small/8 contrastive"
        curve = followed.curves()[0]
        assert (curve["search"], curve["state"]) == (search.name, "RUNNING")
        assert curve["scores"] == [(0, 1, 0.25), (0, 2, 0.5)]
        assert curve["where"] == "node-a 0"
    view = followed.view()
    assert view.state == "stopped"
    assert view.progress.running == 0
    assert all(it["state"] != "RUNNING" for it in followed.curves())


def test_rows_are_read_again_only_where_files_changed_and_damage_is_told(folder, monkeypatch):
    followed = FollowedStudy(folder)
    before = followed.view()
    with monkeypatch.context() as again:
        again.setattr(Reader, "summarise", raising(AssertionError("read again")))
        with running(folder):
            assert counts_of(followed.view()) == counts_of(before)
    file = next(folder.glob("trials/*/*.parquet"))
    content = file.read_bytes()
    file.write_bytes(content[:-100])
    with pytest.raises(CorruptFileError, match=file.stem):
        followed.view()
    file.write_bytes(content)
    assert counts_of(followed.view()) == counts_of(before)


def raising(error):
    def fail(*given):
        raise error

    return fail


def test_withdrawn_trials_vanish_and_gathered_ones_stay(folder):
    followed = FollowedStudy(folder)
    before = followed.view()
    gather_all(StudyPaths(folder))
    assert all(".gathered." in path.name for path in folder.glob("trials/*/*.parquet"))
    assert counts_of(followed.view()) == counts_of(before)
    withdrawn = Reader(folder).trials().collect().row(0, named=True)
    withdraw_trials(StudyPaths(folder), {withdrawn["trial_id"]: withdrawn["search"]})
    after = followed.view()
    assert after.progress.trials_done == before.progress.trials_done - 1
    assert counts_of(after) == counts_of_rows(folder)
