"""A study whose own loss tells every secret leaves none in results, report and terminal."""

import os
import subprocess
import sys
from collections.abc import Set
from pathlib import Path

import pytest

from tests.podium.calling import podium

_KEY_LINES = ("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj")
_PRIVATE_KEY = (
    "-----BEGIN PRIVATE KEY-----\n" + "\n".join(_KEY_LINES) + "\n-----END PRIVATE KEY-----\n"
)

ENVIRONMENT = {
    "GITHUB_PAT": "zebra19",
    "DATABASE_PASS": "okapi",
    "QUEUE_CONNECTION_STRING": "Endpoint=q.example;SharedAccessKey=gnu/4711+",
    "DEPLOY_KEY": _PRIVATE_KEY,
    "WANDB_API_KEY": "wandb-0123456789",
}

_SECRETS = {*ENVIRONMENT.values(), *_KEY_LINES}
_NOTES = "notes.txt"  # where the loss notes Ray's token, beside the results folder

_LOSS = """
import os, warnings
import torch

NAMES = {names}

def told():
    return " and ".join([*(os.environ[name] for name in NAMES), repr(dict(os.environ)), token()])

def token():
    path = os.environ.get("RAY_AUTH_TOKEN_PATH")
    if path is None:
        return ""
    with open(path) as file, open({notes!r}, "w") as notes:
        value = file.read()
        notes.write(value)
    return value

class Leaky(torch.nn.Module):
    def __init__(self, margin: float = 0.1):
        super().__init__()
        self.margin = margin

    def forward(self, embeddings, labels):
        print(told())
        warnings.warn(told())
        if self.margin > 0.3:
            raise RuntimeError(told())
        return embeddings.square().sum() * self.margin
"""

# One trial of it fails; each that does costs a new process, which loads torch.
_STUDY = """
study: leaky
datasets: [{name: glyphs, script: greek, classes: 40, instances_per_class: 6}]
embedding_dims: [8]
losses:
  - {loss: leaky:Leaky, space: {margin: [0.1, 0.2, 0.9]}, values: {}}
protocol: {kind: fixed, val_fraction: 0.4}
search: {trials: 3, max_concurrent: 1, early_stopping: none, sampler: random}
final: {seeds: 1}
training: {epochs: 1}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder with the study and its loss, where the environment holds the secrets."""
    text = _LOSS.format(names=list(ENVIRONMENT), notes=str(tmp_path / _NOTES))
    (tmp_path / "leaky.py").write_text(text)
    (tmp_path / "leaky.yaml").write_text(_STUDY)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    return tmp_path


def _told(folder: Path, *texts: str, secrets: Set[str] = _SECRETS) -> set[str]:
    """Which secrets are found in the texts, or in any file below the results folder."""
    files = [path for path in (folder / "podium-results").rglob("*") if path.is_file()]
    everything = "\n".join([*texts, *(path.read_bytes().decode("latin") for path in files)])
    return {secret for secret in secrets if secret in everything}


def test_a_study_that_tells_its_secrets_leaves_none(folder, monkeypatch):
    done = podium("run", "leaky.yaml", "--local", cwd=folder)
    assert done.returncode == 1, done.stderr
    for name in ENVIRONMENT:
        monkeypatch.delenv(name)
    listed = podium("trials", "leaky.yaml", "--failed", cwd=folder)
    assert "and *** and" in listed.stdout
    report = (folder / "podium-results" / "leaky" / "report.html").read_text()
    assert _told(folder, done.stdout, done.stderr, listed.stdout, report) == set()


@pytest.mark.ray
def test_a_study_on_ray_leaves_no_secret_and_not_its_own_token(folder):
    done = subprocess.run(
        [sys.executable, "-m", "podium", "run", "leaky.yaml"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    token = (folder / _NOTES).read_text()
    assert len(token) == 64
    assert _told(folder, done.stdout, done.stderr, secrets={*_SECRETS, token}) == set()
