"""A loss and a transform in files beside the study: run without a Python path, read without."""

import re

import pytest

from podium.orchestrator.results.records.journal import read_attempts
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.reader import Reader
from tests.orchestrator.ray_cluster import RayCluster
from tests.podium.calling import call, output_of, podium
from tests.podium.test_import_name import python, write_modules

# It deletes its file when it is first run, so that whoever needs the file later fails.
LOSS = """
import torch
from pathlib import Path

Path({file!r}).unlink(missing_ok=True)

class Mine(torch.nn.Module):
    def __init__(self, margin: float = 0.5):
        super().__init__()
        self.margin = margin

    def forward(self, embeddings, labels):
        x = torch.nn.functional.normalize(embeddings)
        cosines, same = x @ x.T, labels[:, None] == labels
        return (1 - cosines)[same].mean() + (cosines[~same] - self.margin).relu().mean()
"""
STUDY = """
study: own-file
datasets: [{name: glyphs, script: greek, classes: 24, instances_per_class: 6}]
embedding_dims: [8]
losses:
  - {loss: contrastive, label: Pairs}
  - {loss: ./losses/mine.py:Mine, label: Ours, space: {margin: [0.1, 0.3, 0.5]}}
protocol: {kind: fixed, val_fraction: 0.4}
search: {trials: 2, early_stopping: none, sampler: random, order: deterministic}
final: {seeds: 1}
training: {epochs: 1, batch_size: 16, transform: ./losses/turn.py:turned}
keep: {models: false, embeddings: false}
"""
NAME = "mine.py:Mine"
TRANSFORM = """
def turned(image_CHW):
    return image_CHW.rot90(dims=(1, 2))
"""


def written(folder):
    """The study, with the loss beside it, and elsewhere nothing of it."""
    (folder / "losses").mkdir(parents=True)
    file = folder / "losses" / "mine.py"
    file.write_text(LOSS.format(file=str(file)))
    (folder / "losses" / "turn.py").write_text(TRANSFORM)
    (folder / "study.yaml").write_text(STUDY)
    (folder / "elsewhere").mkdir()
    return folder / "study.yaml", file


def trials_of(folder):
    rows = Reader(folder).trials().filter(stage="search").sort("trial_id").collect()
    assert set(rows["state"]) == {"COMPLETE"}
    return rows


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The study after its run in one process, without the file."""
    folder = tmp_path_factory.mktemp("own_file")
    study, file = written(folder)
    end = podium("run", study, "--local", "--storage", folder, cwd=folder / "elsewhere")
    assert end.returncode == 0, end.stdout + end.stderr
    assert not file.exists()
    return folder


@pytest.mark.parametrize("name", ["status", "trials", "report", "tournament", "verify"])
def test_reading_commands_do_not_need_the_file(ran, capsys, name):
    shown = output_of(capsys, name, ran / "study.yaml", "--storage", ran)
    if name in ("status", "trials", "tournament"):
        assert "Ours" in shown
        assert NAME not in shown
        assert "Pairs" in shown
        assert "contrastive" not in shown
    if name == "verify":
        assert "No problems." in shown


def test_a_changed_file_is_refused_with_both_hashes(ran, capsys):
    text = LOSS.format(file=str(ran / "losses" / "mine.py"))
    changed, file = text.replace("0.5", "0.4"), ran / "losses" / "mine.py"
    file.write_text(changed)
    planned = output_of(capsys, "plan", ran / "study.yaml", "--storage", ran)
    assert "podium run would be refused" in planned
    file.write_text(changed)
    refused = call(capsys, "run", ran / "study.yaml", "--local", "--storage", ran)
    assert refused.code != 0
    assert re.search(r"mine\.py:Mine.*\b[0-9a-f]{12,64}\b.*\b[0-9a-f]{12,64}\b", refused.err)
    file.write_text(text)
    again = output_of(capsys, "run", ran / "study.yaml", "--local", "--storage", ran)
    assert "report" in again


def test_the_copy_is_run_only_if_it_is_trusted(ran, capsys):
    folder = ran / "own-file"
    trial = trials_of(folder).filter(loss=NAME)["trial_id"][0]
    words = ("trial", "rerun", trial, "--storage", ran)
    end = podium(*words, cwd=ran)
    assert (end.returncode, "--trust-code" in end.stderr) == (2, True)
    end = podium(*words, "--trust-code", cwd=ran)
    assert end.returncode == 0, end.stderr
    assert "same: all" in end.stdout
    (copy,) = StudyPaths(folder).code.glob("*/mine.py")
    whole = copy.read_text()
    copy.write_text(whole + "raise SystemExit\n")
    try:
        end = podium(*words, "--trust-code", cwd=ran)
    finally:
        copy.write_text(whole)
    assert end.returncode != 0
    assert "is not the copy of the code that was recorded" in end.stderr


def test_a_rerun_says_that_code_on_the_python_path_is_another_and_trains_the_present_one(tmp_path):
    (tmp_path / "own.py").write_text(LOSS.format(file="nowhere") + TRANSFORM)
    of_module = STUDY.replace("./losses/mine.py:Mine", "own:Mine")
    of_module = of_module.replace("./losses/turn.py:turned", "own:turned")
    (tmp_path / "study.yaml").write_text(of_module)
    end = podium("run", "study.yaml", "--local", "--no-report", cwd=tmp_path)
    assert end.returncode == 0, end.stderr
    trials = trials_of(tmp_path / "podium-results" / "own-file").filter(loss="own:Mine")
    changed = LOSS.format(file="nowhere").replace("- self.margin", "+ self.margin") + TRANSFORM
    changed += "# of another size, so that no bytecode of the same second stands for it\n"
    (tmp_path / "own.py").write_text(changed)
    end = podium("trial", "rerun", trials["trial_id"][0], cwd=tmp_path)
    assert end.returncode == 1, end.stderr
    assert "other code than the stored trial was trained by: own:Mine: the code" in end.stdout


def test_commands_on_losses_take_a_file(tmp_path, monkeypatch, capsys):
    _, file = written(tmp_path)
    monkeypatch.chdir(tmp_path)
    text = file.read_text()
    assert "margin=0.5" in output_of(capsys, "losses", "./losses/mine.py:Mine")
    file.write_text(text)
    assert "learning_rate" in output_of(capsys, "losses", "losses/mine.py:Mine")
    file.write_text(text)
    settings = [f"--set={it}" for it in ("epochs=1", "dataset.classes=40", "margin=0.3")]
    end = podium(
        "trial",
        "train",
        "--loss",
        file.relative_to(tmp_path).as_posix() + ":Mine",
        *settings,
        cwd=tmp_path,
    )
    assert end.returncode == 0, end.stderr
    assert "val R@1" in end.stdout


@pytest.mark.ray
@pytest.mark.filterwarnings("default")
def test_every_node_of_a_cluster_gets_the_file_with_the_trial(tmp_path):
    """Beside modules named as podium's parts, which nobody imports."""
    study, file = written(tmp_path)
    write_modules(tmp_path)
    with RayCluster(nodes=2, cpus=1) as cluster:
        run = ("-m", "podium", "run", study, "--address", cluster.address, "--storage", tmp_path)
        end = python(tmp_path, *run, environment=cluster.environment)
    assert end.returncode == 0, end.stdout + end.stderr
    assert not file.exists()
    assert (tmp_path / "own-file" / "report.html").exists()
    rows = trials_of(tmp_path / "own-file")
    assert rows["loss"].to_list().count(NAME) == 2
    attempts = list(read_attempts(StudyPaths(tmp_path / "own-file")))
    assert {attempt.cause for attempt in attempts} == {"complete"}
    assert len({attempt.pid for attempt in attempts}) > 1
