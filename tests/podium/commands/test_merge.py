"""Two groups run other losses of one study, for real, and put their results together."""

import json
from dataclasses import replace

import polars as pl
import pytest

from orchestrator.executors.in_process import InProcessExecutor
from orchestrator.results.trial_files.reader import Reader
from orchestrator.study_validation.load_study import load_study
from tests.orchestrator.small_study import run_here
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


@pytest.fixture(scope="module")
def merged(tmp_path_factory):
    """Storage with the merged folder ``both``, and those of the groups."""
    storage = tmp_path_factory.mktemp("groups")
    path = storage / "tiny.yaml"
    path.write_text(STUDY)
    study = load_study(path)
    for loss in study.losses:
        end = run_here(replace(study, losses=(loss,)), storage / loss.name, InProcessExecutor())
        assert end.progress.failed == 0
    return storage


@pytest.fixture
def both(merged, capsys):
    folders = [merged / loss / "tiny" for loss in ("contrastive", "normalized_softmax")]
    output = merged / "both"
    if not output.exists():
        called = call(capsys, "merge", *folders, "--output", output)
        assert called.code == 0, called.err
        assert "2 losses (contrastive and normalized_softmax) in 1 block" in called.out
        assert "1 shared trial kept once" in called.out
    return output


def test_tournament_status_trials_and_report_read_it(both, capsys):
    record = json.loads(call(capsys, "tournament", both, "--json").out)
    names = {each["competitor"] for each in record["competitors"]}
    assert names == {"contrastive", "normalized_softmax"}
    assert "normalized_softmax" in call(capsys, "status", both).out
    assert "contrastive" in call(capsys, "trials", both).out
    assert call(capsys, "protocols", both).code == 0
    report = call(capsys, "report", both)
    assert report.code == 0, report.err
    assert "normalized_softmax" in (both / "report.html").read_text()


def test_weights_and_embeddings_come_along(both, merged):
    for kind in ("models", "embeddings"):
        names = {path.name for path in (both / kind).iterdir()}
        parts = [merged / loss / "tiny" / kind for loss in ("contrastive", "normalized_softmax")]
        assert names == {path.name for part in parts for path in part.iterdir()}


def test_every_number_is_that_of_its_group(both, merged):
    scores = Reader(both).test_scores().collect()
    for loss in ("contrastive", "normalized_softmax"):
        own = Reader(merged / loss / "tiny").test_scores().collect()
        assert scores.filter(pl.col("loss") == loss).equals(own.filter(pl.col("loss") == loss))


def test_the_merged_folder_is_not_run(both, merged, capsys):
    path = merged / "both.yaml"
    path.write_text(STUDY.replace("study: tiny", "study: both"))
    called = call(capsys, "run", path, "--local", "--storage", merged)
    assert called.code == 2
    assert "holds merged results, which cannot be run" in called.err
    refused = call(capsys, "run", both, "--local")
    assert refused.code == 2
    assert "Traceback" not in refused.err


def test_what_cannot_be_merged_is_reported_without_a_traceback(both, merged, capsys):
    ours = merged / "contrastive" / "tiny"
    for arguments, message in (
        ((ours, both, "--output", both), "exists already"),
        ((ours, "--output", merged / "x"), "at least two different"),
        ((ours, merged, "--output", merged / "x"), "results folder"),
        ((ours, merged / "nowhere", "--output", merged / "x"), "results folder"),
    ):
        called = call(capsys, "merge", *arguments)
        assert called.code == 2
        assert called.err.startswith("podium: ")
        assert message in called.err
        assert not (merged / "x").exists()
