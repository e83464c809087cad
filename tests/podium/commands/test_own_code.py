"""A loss and a backbone of one's own, edited between two runs, through the real command line."""

import json
import shutil

import polars as pl
import pytest

from podium.orchestrator.verify.verify_store import verify_store
from tests.orchestrator.changed_folders import bytes_of
from tests.podium.calling import podium

LOSS = """
import torch
from own_helper import SCALE

class Mine(torch.nn.Module):
    def __init__(self, margin: float = 0.1):
        super().__init__()
        self.margin = margin

    def forward(self, embeddings, labels):
        return embeddings.square().sum() * self.margin * SCALE
"""
NETWORK = """
from torch import nn

class Net(nn.Module):
    num_features = 8

    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 8, 4, stride=4)

    def forward(self, images):
        return self.layer(images).mean((2, 3)) * 1.0
"""
STUDY = """
study: own
datasets: [{name: glyphs, script: greek, classes: 24, instances_per_class: 6}]
backbones: [{name: "own_net:Net", weights: random}]
embedding_dims: [8]
losses:
  - contrastive
  - {loss: "own_loss:Mine", space: {margin: [0.1, 0.2, 0.9]}}
protocol: {kind: fixed, val_fraction: 0.4}
search: {trials: 2, early_stopping: none, sampler: random}
final: {seeds: 1}
training: {epochs: 1, batch_size: 16}
"""
EDITS = {
    "own_loss.py": ("self.margin * SCALE", "-self.margin * SCALE", "own_loss:Mine"),
    "own_helper.py": ("SCALE = 1.0", "SCALE = 2.0", "own_loss:Mine"),
    "own_net.py": ("mean((2, 3)) * 1.0", "amax((2, 3)) * 1.0", "own_net:Net"),
}
MORE = ("--set", "search.trials=3")


def run(folder, *words):
    return podium("run", "own.yaml", "--local", *words, cwd=folder)


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """A folder with a study of own code that was run to its end."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "own_loss.py").write_text(LOSS)
    (folder / "own_helper.py").write_text("SCALE = 1.0\n")
    (folder / "own_net.py").write_text(NETWORK)
    (folder / "own.yaml").write_text(STUDY)
    done = run(folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def folder(started, tmp_path):
    shutil.copytree(started, tmp_path / "own")
    return tmp_path / "own"


def edit(folder, name):
    old, new, _ = EDITS[name]
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new))


@pytest.mark.parametrize("name", EDITS)
def test_a_study_does_not_continue_with_code_that_was_edited(folder, name):
    results = folder / "podium-results" / "own"
    before = bytes_of(results)
    import_path = EDITS[name][2]
    recorded = json.loads((results / "provenance.json").read_text())["code"][import_path]
    edit(folder, name)
    refused = run(folder, *MORE)
    assert refused.returncode == 2
    assert "holds results of code that has changed since" in refused.stderr
    assert f"{import_path}: the code has SHA-256 " in refused.stderr
    assert f", recorded is {recorded['fingerprint']} (as it was: " in refused.stderr
    assert "give the study a new name" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert bytes_of(results) == before
    assert verify_store(results).problems == []


def test_a_plan_says_that_the_run_would_be_refused(folder):
    assert "would be refused" not in podium("plan", "own.yaml", cwd=folder).stdout
    edit(folder, "own_helper.py")
    planned = podium("plan", "own.yaml", cwd=folder)
    assert planned.returncode == 0
    assert "podium run would be refused" in planned.stdout
    refusal = json.loads(podium("plan", "own.yaml", "--json", cwd=folder).stdout)["refusal"]
    assert "own_loss:Mine: the code has SHA-256 " in refusal


def test_a_rerun_says_that_the_code_is_another_and_trains_the_present_one(folder):
    results = folder / "podium-results" / "own"
    rows = pl.read_parquet(results / "**/*.parquet")
    trial = rows.filter(pl.col("loss").str.contains("own"), stage="search").row(0, named=True)
    assert set(json.loads(trial["settings"])["code"]) == {"own_loss:Mine", "own_net:Net"}
    arguments = ("trial", "rerun", trial["trial_id"], "--study", results)
    same = podium(*arguments, cwd=folder)
    assert (same.returncode, "same: all" in same.stdout) == (0, True), same.stderr
    edit(folder, "own_net.py")
    other = podium(*arguments, cwd=folder)
    assert "other code than the stored trial was trained by: own_net:Net: the code" in other.stdout
    assert other.returncode == 1, other.stderr
    assert "and other code" in other.stdout
