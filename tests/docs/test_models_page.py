"""The Python that docs/how-to/models.md shows gives what podium computed."""

from pathlib import Path

import numpy as np
import torch
from PIL import Image
from safetensors.numpy import load_file

from tests.docs.code_blocks import run_python


def test_every_block_runs_and_podium_is_not_needed(in_prepared):
    names = run_python("docs/how-to/models.md")
    assert names["embeddings"].shape == (2, 16)
    kept = load_file(Path("embeddings.safetensors"))
    assert np.array_equal(names["stored"]["embeddings"], kept["embeddings"])

    images = [np.asarray(Image.open(name)) for name in ("a.png", "b.png")]
    images_B3HW = torch.from_numpy(np.stack(images))[:, None].expand(-1, 3, -1, -1)
    with torch.no_grad():
        found_BD = names["network"](names["normalize"](images_B3HW / 255))
    np.testing.assert_allclose(found_BD.numpy(), names["embeddings"], rtol=1e-3, atol=1e-4)
