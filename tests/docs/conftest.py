"""What the pages have before them: a folder with results, networks, images and tables."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from podium.optuna_journal import write_searches
from podium.trainables.settings.trial_settings import BackboneSettings, DatasetSettings
from podium.trainables.trial.run_trial import run_trial
from tests.docs.code_blocks import ROOT, TEXTS, blocks
from tests.orchestrator.small_study import STUDY, run_here
from tests.trainables.tiny_trials import tiny_trial


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """A folder with everything that blocks of pages read."""
    folder = tmp_path_factory.mktemp("pages")
    storage = folder / "podium-results"
    run_here(replace(STUDY, name="quickstart"), storage)
    run_here(replace(STUDY, name="letters"), storage)
    write_searches(storage / "letters", folder / "journal.log")
    shutil.copytree(ROOT / "studies", folder / "studies")
    for name in ("a.png", "b.png", "rooms/a/1.png", "rooms/a/2.png"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        drawn = np.random.default_rng(ord(name[-5])).integers(0, 256, (64, 64), np.uint8)
        Image.fromarray(drawn).resize((32, 32)).save(folder / name)
    paths = [f"class {number % 4}/{number}.jpg" for number in range(12)]
    embeddings = np.random.default_rng(0).standard_normal((12, 5)).astype(np.float32)
    np.savez(folder / "embeddings.npz", embeddings=embeddings, paths=paths)
    _leave_network(folder)
    (folder / "pairs.txt").write_text(
        "2\nAnn 1 2\nBob 1 2\nAnn 1 Bob 1\nAnn 2 Bob 2\n", encoding="utf-8"
    )
    for part in ("test/Ann", "test/Bob", *(f"train/C{number:02}" for number in range(20))):
        (folder / "data" / part).mkdir(parents=True)
        for number in (1, 2):
            shutil.copy2(folder / "a.png", folder / "data" / part / f"{part[-3:]}_{number:04}.png")
    shutil.copy2(ROOT / "studies" / "thesis_cub200.csv", folder)
    for block in (block for page in TEXTS for block in blocks(page, "python") if block.file):
        if "/" not in block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
    return folder


@pytest.fixture
def in_prepared(prepared, monkeypatch):
    """The same, as the current folder."""
    monkeypatch.chdir(prepared)
    return prepared


def _leave_network(folder: Path) -> None:
    """The weights and the test embeddings of a network that was not trained."""
    small = DatasetSettings(name="glyphs", options={"classes": 12, "instances_per_class": 2})
    settings = tiny_trial(str(folder), loss="untrained", epochs=0, dataset=small)
    kept = []
    trial = replace(settings, backbone=BackboneSettings(name="resnet18"))
    list(run_trial(trial, keep=kept.append))
    (folder / "winner.safetensors").write_bytes(kept[0].model.to_bytes())
    (folder / "embeddings.safetensors").write_bytes(kept[0].embeddings.to_bytes())
