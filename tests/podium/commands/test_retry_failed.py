"""Failed trials of a loss of the user's own, and how they are retried once its file is there."""

import polars as pl
import pytest

from tests.orchestrator.study_files import MINIMAL
from tests.podium.calling import call, podium

STUDY = """
study: frail
datasets: [{name: glyphs, script: greek, classes: 40, instances_per_class: 6}]
backbones: [conv_small]
embedding_dims: [8]
losses:
  - contrastive
  - {loss: 'own:Frail', space: {margin: {low: 0.1, high: 0.9}}}
protocol: {kind: fixed, val_fraction: 0.4}
search: {trials: 3, sampler: random, early_stopping: none, order: deterministic, lag: 1}
final: {seeds: 1}
training: {epochs: 1}
"""
OWN = """
from pathlib import Path

import torch
from torch import nn


class Frail(nn.Module):
    def __init__(self, margin=0.5):
        super().__init__()
        self.margin = margin

    def forward(self, embeddings, labels):
        if self.margin >= 0.4 and not Path(__file__).with_name("weights.txt").exists():
            raise RuntimeError("weights.txt is not there")
        similarities = embeddings @ embeddings.T
        same = (labels[:, None] == labels[None]).float()
        return ((similarities - same).abs() - self.margin).clamp(min=0).mean()
"""
RUN = ("run", "frail.yaml", "--local")


def trials(folder):
    return pl.read_parquet(f"{folder}/podium-results/frail/**/*.parquet").sort("trial_id")


def test_failed_trials_are_retried_on_request_only_and_succeed_once_their_file_is_there(tmp_path):
    folder = tmp_path
    (folder / "frail.yaml").write_text(STUDY)
    (folder / "own.py").write_text(OWN)
    first = podium(*RUN, cwd=folder)
    before = trials(folder)
    assert first.returncode == 1, first.stderr
    count = before.filter(pl.col("state") == "FAILED").height
    assert f"{count} trials failed: podium trials podium-results/frail --failed" in first.stderr
    assert "podium run with --retry-failed retries them" in first.stderr
    shown = podium("trials", "frail.yaml", "--failed", cwd=folder).stdout
    assert "podium run STUDY --retry-failed [CAUSE]... retries them" in shown

    again = podium(*RUN, "--no-report", cwd=folder)
    assert again.returncode == 1
    assert "already done" in again.stderr
    assert trials(folder).equals(before)

    (folder / "weights.txt").write_text("")
    done = podium(*RUN, "--retry-failed", "error", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert f"Retrying {count} failed trials (error {count})." in done.stderr
    after = trials(folder)
    assert set(before["trial_id"]) <= set(after["trial_id"])
    assert set(after["state"]) == {"COMPLETE"}

    shown = podium("trials", "frail.yaml", "--failed", cwd=folder).stdout
    assert shown.startswith("No trial failed.\n")
    assert shown.count("retried, now COMPLETE; failed before") == count


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--retry-failed", "oom"), "trials fail for one of the causes diverged, collapsed,"),
        (("error",), "podium run takes one study, and causes of failures with --retry-failed"),
    ],
)
def test_causes_that_are_none_are_one_clear_error(tmp_path, capsys, words, message):
    (tmp_path / "study.yaml").write_text(MINIMAL)
    refused = call(capsys, "run", tmp_path / "study.yaml", "--local", *words)
    assert refused.code == 2
    assert refused.err.startswith(f"podium: {message}")
    assert words[-1] in refused.err
