"""Code that a study names by import path: recorded, copied, and the same ever after."""

import json
import sys
from dataclasses import replace

import pytest

from podium.errors import PodiumError
from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.records.journal import read_asks, read_attempts
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import read_provenance, read_study
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.study.study import StudyLoss
from podium.orchestrator.verify.verify_store import verify_store
from podium.trainables.foreign_code import foreign_code
from tests.orchestrator.changed_folders import bytes_of
from tests.orchestrator.own_code import OwnCode
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import STUDY, InterruptedAfter, rows, run_here


@pytest.fixture
def own(tmp_path, monkeypatch):
    folder = tmp_path / "code"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return OwnCode(folder)


def more(study):
    return replace(study, search=replace(study.search, trials=study.search.trials + 1))


def test_the_fingerprint_is_in_the_snapshot_and_a_copy_beside_it(own, tmp_path):
    run_here(own.study(), tmp_path)
    paths = StudyPaths(tmp_path / "own")
    code = foreign_code(own.path)
    assert read_study(paths)["code"] == {own.path: code.fingerprint}
    for name, data in code.sources.items():
        assert (paths.code_folder(code.fingerprint) / name).read_bytes() == data
    told = {"fingerprint": code.fingerprint, "files": sorted(code.sources), "packages": {}}
    assert read_provenance(paths)["code"] == {own.path: told}
    for trial in rows(tmp_path, own.study()).to_dicts():
        named = {own.path: code.fingerprint} if trial["loss"] == own.path else None
        assert json.loads(trial["settings"]).get("code") == named
    assert verify_store(paths.folder).problems == []


def test_an_installed_loss_is_recorded_by_package(tmp_path):
    name = "pytorch_metric_learning.losses:CircleLoss"
    run_here(
        OwnCode(tmp_path).study(losses=(StudyLoss("contrastive"), StudyLoss(name))),
        tmp_path,
    )
    paths = StudyPaths(tmp_path / "own")
    (told,) = read_provenance(paths)["code"].values()
    assert told["files"] == []
    assert [name.rpartition(" ")[0] for name in told["packages"]] == ["pytorch-metric-learning"]
    assert verify_store(paths.folder).problems == []


def test_a_changed_helper_is_refused_and_nothing_changes(own, tmp_path):
    run_here(own.study(), tmp_path)
    before, recorded = bytes_of(tmp_path / "own"), foreign_code(own.path).fingerprint
    own.helper.write_text("SCALE = 2\n")
    now = foreign_code(own.path).fingerprint
    hashes = f"the code has SHA-256 {now}, recorded is {recorded}"
    with pytest.raises(PodiumError, match=f"\n  losses: {own.path}: {hashes}"):
        run_here(more(own.study()), tmp_path)
    assert bytes_of(tmp_path / "own") == before
    own.helper.write_text("SCALE = 1\n")
    assert run_here(more(own.study()), tmp_path).interrupted is False


def test_a_changed_transform_is_named_by_its_key(own, tmp_path):
    overrides = {**STUDY.training.overrides, "transform": own.path}
    study = own.study(
        losses=(StudyLoss("contrastive"),), training=replace(STUDY.training, overrides=overrides)
    )
    run_here(study, tmp_path)
    own.helper.write_text("SCALE = 2\n")
    with pytest.raises(PodiumError, match=f"\n  training.transform: {own.path}: the code has"):
        run_here(more(study), tmp_path)


def test_a_loss_that_joins_later_is_recorded_then(own, tmp_path):
    first = own.study(losses=(StudyLoss("contrastive"),))
    run_here(first, tmp_path)
    run_here(own.study(), tmp_path)
    code = foreign_code(own.path)
    assert read_study(StudyPaths(tmp_path / "own"))["code"] == {own.path: code.fingerprint}
    own.helper.write_text("SCALE = 2\n")
    with pytest.raises(PodiumError, match="code that has changed since"):
        run_here(own.study(), tmp_path)


def test_code_may_change_until_a_trial_of_it_is_over(own, tmp_path):
    study = own.study(losses=(own.study_loss,))
    run_here(study, tmp_path, InterruptedAfter(1))
    paths = StudyPaths(tmp_path / "own")
    assert read_asks(paths)
    assert Reader(paths.folder).trials().collect().is_empty()
    own.helper.write_text("SCALE = 2\n")
    said = []
    assert not run_here(study, tmp_path, say=said.append).interrupted
    assert any("changed before any of its trials ended" in line for line in said)
    assert read_study(paths)["code"] == {own.path: foreign_code(own.path).fingerprint}
    found = verify_store(paths.folder)
    assert found.problems == []


def test_a_worker_refuses_a_job_of_other_code_and_no_row_is_written(own, tmp_path):
    study = own.study(losses=(own.study_loss,))

    def edited_later(settings, **others):
        yield from simulated_trial(settings, **others)
        if settings.code:
            own.helper.write_text("SCALE = 2\n")

    with pytest.raises(PodiumError) as ended:
        run_here(study, tmp_path, InProcessExecutor(edited_later))
    assert "holds other code than this study began with" in str(ended.value)
    assert f"{own.path}: the code has SHA-256 " in str(ended.value)
    paths = StudyPaths(tmp_path / "own")
    assert rows(tmp_path, study)["state"].to_list() == ["COMPLETE"]
    causes = [attempt.cause for attempt in read_attempts(paths)]
    assert set(causes) == {"complete", "data"}
    own.helper.write_text("SCALE = 1\n")
    assert not run_here(study, tmp_path).interrupted
    assert verify_store(paths.folder).problems == []


def test_a_node_without_the_module_stops_the_run_and_no_trial_fails(own, tmp_path):
    study = own.study(losses=(own.study_loss,))

    def gone_later(settings, **others):
        yield from simulated_trial(settings, **others)
        own.loss.unlink(missing_ok=True)

    with pytest.raises(PodiumError, match=f"no file of a module {own.loss.stem} .*on the node"):
        run_here(study, tmp_path, InProcessExecutor(gone_later))
    assert rows(tmp_path, study)["state"].to_list() == ["COMPLETE"]


def test_the_copy_is_never_imported(own, tmp_path):
    run_here(own.study(), tmp_path)
    origins = [getattr(module, "__file__", None) for module in sys.modules.values()]
    folder = str(tmp_path / "own" / "code")
    assert [it for it in origins if it and it.startswith(folder)] == []
    assert [*(tmp_path / "own" / "code").rglob("*.parquet")] == []
