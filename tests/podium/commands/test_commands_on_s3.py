"""Every command that takes a study takes its URI."""

import json

import pytest

from podium.orchestrator.results.storage.files import read_bytes
from tests.object_store import KEY, SECRET
from tests.podium.calling import call

STUDY = """
study: tiny
datasets: [{name: glyphs, script: greek, classes: 24, instances_per_class: 6}]
embedding_dims: [8]
losses: [contrastive, normalized_softmax]
protocol: {kind: fixed, val_fraction: 0.4}
search: {trials: 2, early_stopping: none}
final: {seeds: 1}
training: {epochs: 1, batch_size: 16}
"""


@pytest.fixture
def file(bucket, tmp_path):
    path = tmp_path / "tiny.yaml"
    path.write_text(f"{STUDY}storage: {bucket / 'results'}\n")
    return path


def test_a_study_is_run_read_and_checked_on_s3(file, bucket, tmp_path, capsys):
    def podium(*arguments):
        called = call(capsys, *arguments)
        assert called.code == 0, called.err
        assert SECRET not in called.out + called.err
        assert KEY not in called.out + called.err
        return called.out

    study = bucket / "results" / "tiny"
    podium("run", file, "--local", "--no-report")
    assert json.loads(podium("status", study, "--json"))["progress"]["trials_done"] == 8
    assert json.loads(podium("status", file, "--json"))["progress"]["trials_done"] == 8
    (listed,) = json.loads(podium("status", "--storage", bucket / "results", "--json"))
    assert (listed["study"], listed["state"]) == ("tiny", "complete")
    trials = json.loads(podium("trials", study, "--json"))
    final = next(trial["trial_id"] for trial in trials if trial["stage"] == "final")
    assert "No trial failed" in podium("trials", file, "--failed")
    assert json.loads(podium("verify", study, "--json"))["is_sound"]
    assert "contrastive" in podium("tournament", study)
    assert str(study / "report.html") in podium("report", study)
    assert b"<html" in read_bytes(study / "report.html")
    assert "contrastive" in podium("plan", file, "--full")
    podium("export", "tables", study, "--output", tmp_path / "tables")
    assert (tmp_path / "tables" / "trials.parquet").is_file()
    weights = tmp_path / "weights.safetensors"
    podium("trial", "export", final, "--study", study, "--output", weights)
    assert weights.stat().st_size > 1000
    podium("trial", "export", final, "--storage", bucket / "results", "--output", f"{weights}2")
    assert "recall" in podium("trial", "evaluate", final, "--study", study).lower()


@pytest.mark.parametrize(
    "uri",
    [
        "s3://me:hunter2@bucket/x",
        "s3://bucket/x?secret_key=hunter2",
        "s3://me:a/hunter2@bucket/x",
        "s3://me:a#hunter2@bucket/x",
    ],
)
def test_credentials_in_a_uri_are_refused_and_never_shown(uri, tmp_path, capsys):
    file = tmp_path / "tiny.yaml"
    file.write_text(f"{STUDY}storage: {uri}\n")
    plain = tmp_path / "plain.yaml"
    plain.write_text(STUDY)
    for arguments in (
        ("run", file, "--local"),
        ("run", file, "--local", "--storage", tmp_path / "elsewhere"),
        ("run", plain, "--local", "--storage", uri),
        ("run", plain, "--local", "--set", f"storage={uri}"),
        ("plan", file),
        ("status", uri),
        ("report", uri),
        ("export", "tables", uri, "--output", tmp_path / "x"),
        ("tournament", uri),
        ("trial", "evaluate", "x", "--study", uri),
    ):
        called = call(capsys, *arguments)
        assert called.code == 2, arguments
        assert "credentials" in called.err or "password" in called.err, arguments
        assert "hunter2" not in called.out + called.err, arguments
    assert not (tmp_path / "elsewhere").exists()


def test_a_setting_that_uris_do_not_have_is_named(file, capsys):
    called = call(capsys, "status", file, "--storage", "s3://absent-bucket?colour=red")
    assert called.code == 2
    assert "and no 'colour'" in called.err
