"""Pickles that would run code, in the true places of checkpoints, weights and embeddings."""

import io
import os
import pickle
import shutil

import polars as pl
import pytest
import torch

from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.records.journal_records import Attempt
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.study_validation.load_study import load_study
from podium.trainables.trial.checkpoint import add_checksum
from tests.orchestrator.journals import write_records
from tests.orchestrator.small_study import run_here
from tests.podium.calling import call
from tests.podium.kept_studies import STUDY, files_of, trial_of


class Bomb:
    """Unpickling it makes a folder."""

    def __init__(self, mark):
        self._mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self._mark),)


def archive(value):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


CHECKPOINTS = {
    "pickle": lambda bomb: pickle.dumps(bomb),
    "pickle with a checksum": lambda bomb: add_checksum(pickle.dumps(bomb)),
    "archive with a checksum": lambda bomb: add_checksum(archive({"identity": bomb})),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished study of real trials, and the study."""
    storage = tmp_path_factory.mktemp("finished")
    (storage / "study.yaml").write_text(STUDY)
    study = load_study(storage / "study.yaml", ())
    run_here(study, storage, InProcessExecutor())
    return storage, study


def scores(storage):
    return Reader(storage / "tiny").trials().select("trial_id", "state", "objective").collect()


def test_the_bomb_goes_off_where_it_is_unpickled(tmp_path):
    pickle.loads(pickle.dumps(Bomb(tmp_path / "mark")))
    assert (tmp_path / "mark").exists()


@pytest.mark.parametrize("kind", CHECKPOINTS)
def test_a_pickled_checkpoint_in_its_true_place_is_deleted_and_runs_nothing(
    finished, tmp_path, kind
):
    whole, study = finished
    paths = StudyPaths(tmp_path / "tiny")
    begun = trial_of(whole, "final")
    attempts = Reader(whole / "tiny").attempts().filter(trial_id=begun).collect()
    paths.folder.mkdir()
    for name in ("store.json", "study.json", "provenance.json"):
        shutil.copy(whole / "tiny" / name, paths.folder)
    known = attempts.row(0, named=True) | {"ended_at": None, "cause": None}
    write_records(paths, [Attempt(**known)])
    place = paths.checkpoint(begun)
    place.parent.mkdir(parents=True)
    place.write_bytes(CHECKPOINTS[kind](Bomb(tmp_path / "mark")))
    run_here(study, tmp_path, InProcessExecutor())
    assert not (tmp_path / "mark").exists()
    assert scores(tmp_path).sort("trial_id").equals(scores(whole).sort("trial_id"))
    said = Reader(paths.folder).attempts().filter(pl.col("message").str.contains("checkpoint"))
    assert len(said.collect()) == 1


def test_a_checkpoint_of_a_trial_that_nothing_attempted_is_not_read(finished, tmp_path):
    whole, study = finished
    place = StudyPaths(tmp_path / "tiny").checkpoint(trial_of(whole, "search"))
    place.parent.mkdir(parents=True)
    place.write_bytes(CHECKPOINTS["pickle"](Bomb(tmp_path / "mark")))
    run_here(study, tmp_path, InProcessExecutor())
    assert not (tmp_path / "mark").exists()
    assert not place.exists()
    assert scores(tmp_path).sort("trial_id").equals(scores(whole).sort("trial_id"))


@pytest.mark.parametrize("name", ["model", "embeddings"])
@pytest.mark.parametrize("kind", ["pickle", "archive with a checksum"])
def test_pickled_weights_and_embeddings_are_named_and_run_nothing(
    finished, tmp_path, capsys, name, kind
):
    shutil.copytree(finished[0] / "tiny", tmp_path / "tiny")
    trial_id = trial_of(tmp_path)
    file = files_of(tmp_path, trial_id)[("model", "embeddings").index(name)]
    file.write_bytes(CHECKPOINTS[kind](Bomb(tmp_path / "mark")))
    verified = call(capsys, "verify", tmp_path / "tiny")
    assert (verified.code, file.name in verified.out) == (2, True)
    call(capsys, "report", tmp_path / "tiny", "--output", tmp_path / "report.html")
    call(capsys, "trial", "evaluate", trial_id, "--study", tmp_path / "tiny")
    assert not (tmp_path / "mark").exists()
