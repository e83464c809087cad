"""``podium control``: what its commands write, say and refuse."""

import pytest

from tests.orchestrator.small_study import STUDY, InterruptedAfter, run_here
from tests.podium.calling import call


@pytest.fixture
def folder(tmp_path):
    run_here(STUDY, tmp_path, InterruptedAfter(3))
    return tmp_path / STUDY.name


SEARCH = "glyphs-greek/conv_small/8 proxy_anchor"
SEARCH_ID = "glyphs-greek.conv_small.16.contrastive.fixed.0"


def test_control_changes_how_many_trials_run_and_says_what_is_changed(capsys, folder):
    assert "nothing is changed" in call(capsys, "control", "hours", folder).out
    assert not (folder / "control.yaml").exists()
    assert call(capsys, "control", "concurrency", folder, 3).code == 0
    assert (folder / "control.yaml").read_text() == "max_concurrent: 3\n"
    assert "max_concurrent 3" in call(capsys, "control", "hours", folder).out
    refused = call(capsys, "control", "concurrency", folder, 0)
    assert refused.code == 2
    assert "max_concurrent must be greater than or equal to 1" in refused.err
    assert (folder / "control.yaml").read_text() == "max_concurrent: 3\n"


def test_control_pauses_and_resumes(capsys, folder):
    call(capsys, "control", "concurrency", folder, 3)
    assert "paused; max_concurrent 3" in call(capsys, "control", "pause", folder).out
    assert "control.yaml: paused; " in " ".join(call(capsys, "status", folder).out.split())
    assert "paused" not in call(capsys, "control", "resume", folder).out
    assert (folder / "control.yaml").read_text() == "max_concurrent: 3\n"


def test_cancel_names_searches_that_status_shows_and_undo_takes_them_back(capsys, folder):
    call(capsys, "control", "concurrency", folder, 3)
    done = call(capsys, "control", "cancel", folder, SEARCH, SEARCH_ID)
    assert done.code == 0
    changed = f"max_concurrent 3; cancelled glyphs-greek/conv_small/16 contrastive, {SEARCH}"
    assert changed in done.out
    assert f"control.yaml: {changed}" in " ".join(call(capsys, "status", folder).out.split())
    assert SEARCH not in call(capsys, "control", "cancel", folder, SEARCH, "--undo").out
    assert "16 contrastive" in (folder / "control.yaml").read_text()


def test_a_wrong_control_file_is_named_by_status_and_not_overwritten(capsys, folder):
    (folder / "control.yaml").write_text("cancel: [no]\nmax_concurrent: 2\n")
    assert "control.yaml:1" in " ".join(call(capsys, "status", folder).out.split())
    refused = call(capsys, "control", "concurrency", folder, 3)
    assert refused.code == 2
    assert "control.yaml:1: cancel[0] must be text; got false" in refused.err
    assert "max_concurrent: 2" in (folder / "control.yaml").read_text()
