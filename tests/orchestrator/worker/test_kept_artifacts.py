"""What the trials of a real study leave in its results folder."""

from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.errors import StoreError
from podium.kept_files.embeddings_file import read_embeddings
from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.ids_and_seeds import NUMERICS_VERSION
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.study.resolved_study import resolved_dict, study_from_resolved
from podium.orchestrator.study.study import KeepSettings
from podium.orchestrator.study.study_changes import forbidden_changes
from podium.orchestrator.study_validation.load_study import load_study
from podium.trainables.saved_models.model_file import read_model
from tests.orchestrator.small_study import rows, run_here, tables

STUDY = """
study: keeping
datasets: [{name: glyphs, script: greek, classes: 24, instances_per_class: 6}]
embedding_dims: [8]
losses: [proxy_anchor]
protocol: {kind: fixed, val_fraction: 0.4}
search: {trials: 2, early_stopping: none, order: deterministic}
final: {seeds: 1, protocol: {kind: kfold, folds: 2}}
training: {epochs: 1, batch_size: 16}
resources: {checkpoint_minutes: 0}
"""


def study_of(folder, text=STUDY):
    (folder / "study.yaml").write_text(text)
    return load_study(folder / "study.yaml", ())


def left(storage, study):
    """Name -> bytes of every file that trials left."""
    folder = storage / study.name
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for kind in ("models", "embeddings")
        for file in sorted((folder / kind).glob("*"))
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    storage = tmp_path_factory.mktemp("undisturbed")
    study = study_of(storage)
    assert not run_here(study, storage, InProcessExecutor()).interrupted
    return storage, study


def test_final_trials_leave_weights_and_all_tested_ones_embeddings(undisturbed):
    storage, study = undisturbed
    trials = rows(storage, study)

    def names(folder, stages):
        tested = trials.filter(pl.col("stage").is_in(stages))
        return {f"{folder}/{i}.{f}.safetensors" for i, f in tested["trial_id", "fold"].rows()}

    expected = names("models", ["final"]) | names("embeddings", ["final", "baseline"])
    assert len(expected) >= 2 * 2 + 2
    assert set(left(storage, study)) == expected


def test_what_was_left_says_which_trial_it_is_of(undisturbed):
    storage, study = undisturbed
    final = rows(storage, study).filter(pl.col("stage") == "final").row(0, named=True)
    paths = StudyPaths(storage / study.name)
    model = read_model(paths.model(final["trial_id"], final["fold"]))
    embeddings = read_embeddings(paths.test_embeddings(final["trial_id"], final["fold"]))
    for origin in (model.origin, embeddings.origin):
        assert origin["trial_id"] == final["trial_id"]
        assert origin["numerics_version"] == NUMERICS_VERSION
    assert model.dataset["test_hash"] == final["test_hash"]
    assert model.fold == embeddings.fold == final["fold"]
    assert model.epoch == final["epoch_selected"]


def test_what_is_switched_off_is_not_left(undisturbed, tmp_path):
    storage, study = undisturbed
    less = replace(study, keep=KeepSettings(models=False))
    run_here(less, tmp_path, InProcessExecutor())
    kept = {
        name: content for name, content in left(storage, study).items() if "models" not in name
    }
    assert left(tmp_path, less) == kept
    assert_frame_equal(tables(tmp_path, less), tables(storage, study))


@pytest.mark.parametrize("after", ["models", "embeddings", "checkpoints"])
def test_a_trial_killed_before_its_row_leaves_the_same_bytes(
    undisturbed, tmp_path, monkeypatch, after
):
    storage, study = undisturbed
    for name in left(storage, study):
        half = tmp_path / study.name / name
        half.parent.mkdir(parents=True, exist_ok=True)
        half.with_name(f".{half.name}.0123456789abcdef.tmp").write_bytes(b"half of")
    killed = kill_once(monkeypatch, after)
    with pytest.raises(KeyboardInterrupt):
        run_here(study, tmp_path, InProcessExecutor())
    assert killed
    run_here(study, tmp_path, InProcessExecutor())
    for folder in ("models", "embeddings"):
        assert not list((tmp_path / study.name / folder).glob(".*"))
    assert left(tmp_path, study) == left(storage, study)
    assert_frame_equal(tables(tmp_path, study), tables(storage, study))


def kill_once(monkeypatch, after):
    """Raise what nobody catches right after the first file of that kind of a tested fold."""
    import podium.orchestrator.worker.worker
    import podium.orchestrator.worker.worker_attempt

    worker, killed, kept = podium.orchestrator.worker.worker, [], []
    put, saver = worker.put, podium.orchestrator.worker.worker_attempt

    def end_after(kind):
        if not killed and kind == after:
            killed.append(True)
            raise KeyboardInterrupt

    def putting(path, data):
        put(path, data)
        kept.append(path)
        end_after(path.parent.name)

    def saving(*arguments):
        put(*arguments)
        end_after("checkpoints" if kept else None)

    monkeypatch.setattr(worker, "put", putting)
    monkeypatch.setattr(saver, "put", saving)
    return killed


def test_a_committed_trial_has_what_it_left(tmp_path, monkeypatch):
    import podium.orchestrator.worker.worker

    def full(*_):
        raise StoreError("cannot write models: No space left on device")

    study = study_of(tmp_path)
    monkeypatch.setattr(podium.orchestrator.worker.worker, "put", full)
    with pytest.raises(StoreError, match="No space left"):
        run_here(study, tmp_path, InProcessExecutor())
    assert "final" not in set(rows(tmp_path, study)["stage"])


def test_a_study_may_keep_more_or_less_later(tmp_path):
    study = study_of(tmp_path)
    less = study_of(tmp_path, STUDY + "keep: {models: false}\n")
    assert less.keep == KeepSettings(models=False, embeddings=True)
    assert not forbidden_changes(resolved_dict(study), resolved_dict(less))
    assert study_from_resolved(resolved_dict(less)) == less
