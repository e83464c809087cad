"""The Python that docs/how-to/models.md shows is executed."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from tests.trainables.tiny_trials import tiny_trial
from trainables.settings.trial_settings import BackboneSettings, DatasetSettings
from trainables.trial.run_trial import run_trial

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "models.md"


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """The blocks of the page, in a folder with the files that they read."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.png", "b.png"):
        drawn = np.random.default_rng(ord(name[0])).integers(0, 256, (64, 64), np.uint8)
        Image.fromarray(drawn).resize((32, 32)).save(name)
    small = DatasetSettings(name="glyphs", options={"classes": 12, "instances_per_class": 2})
    settings = tiny_trial(str(tmp_path), loss="untrained", epochs=0, dataset=small)
    kept = []
    list(
        run_trial(replace(settings, backbone=BackboneSettings(name="resnet18")), keep=kept.append)
    )
    Path("winner.safetensors").write_bytes(kept[0].model.to_bytes())
    Path("embeddings.safetensors").write_bytes(kept[0].embeddings.to_bytes())
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    found = []
    for block in blocks:
        names = {}
        exec(block, names)
        found.append(names)
    return found, kept[0]


def test_every_block_runs_and_podium_is_not_needed(shown):
    (with_podium, without, stored), kept = shown
    assert with_podium["embeddings"].shape == (2, 16)
    assert np.array_equal(stored["stored"]["embeddings"], kept.embeddings.embeddings_ND.numpy())

    images = [np.asarray(Image.open(name)) for name in ("a.png", "b.png")]
    images_B3HW = torch.from_numpy(np.stack(images))[:, None].expand(-1, 3, -1, -1)
    with torch.no_grad():
        found_BD = without["network"](without["normalize"](images_B3HW / 255))
    np.testing.assert_allclose(found_BD.numpy(), with_podium["embeddings"], rtol=1e-3, atol=1e-4)
