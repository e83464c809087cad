"""Against the public definition that the published weights were made for.

Names and shapes are read off `pretrainedmodels/models/bninception.py` of Cadene's
pretrained-models.pytorch (commit 8aae3d8), and the figures of the known image were computed with
it.
"""

import csv
from pathlib import Path

import numpy as np
import pytest
import torch

from podium.trainables.backbones.bn_inception import BNInception

TABLE = Path(__file__).parents[2] / "data" / "bn_inception_parameters.csv"


def published_shapes():
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {
            row["name"]: tuple(map(int, row["shape"].split("x"))) for row in csv.DictReader(file)
        }


def known_weights():
    """In the form of the published file: two-dimensional statistics, no counts of batches."""
    tensors = {}
    for index, (name, shape) in enumerate(published_shapes().items()):
        waves = np.random.default_rng(index).uniform(-1.0, 1.0, shape)
        if name.endswith("running_var"):
            values = 1.0 + 0.5 * waves
        elif name.endswith("_bn.weight"):
            values = 1.0 + 0.2 * waves
        elif len(shape) == 1:
            values = 0.1 * waves
        else:
            values = waves * np.sqrt(6.0 / np.prod(shape[1:]))
        values = values[None] if "_bn." in name else values
        tensors[name] = torch.from_numpy(values).float()
    return tensors


def known_image():
    pixels = np.arange(3 * 96 * 96).reshape(1, 3, 96, 96)
    return torch.from_numpy((pixels * 37 // 11 % 256).astype(np.uint8))


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "bn_inception-52deb4733.pth"
    torch.save(known_weights(), path)
    return path


def test_its_tensors_are_those_of_the_published_file_without_the_classifier():
    ours = {
        name: tuple(value.shape)
        for name, value in BNInception().network.state_dict().items()
        if not name.endswith("num_batches_tracked")
    }
    published = published_shapes()
    assert published.pop("last_linear.weight") == (1000, 1024)
    assert published.pop("last_linear.bias") == (1000,)
    assert ours == published


def test_its_map_is_32_times_smaller_than_the_image():
    images = torch.zeros(1, 3, 224, 224, dtype=torch.uint8)
    with torch.no_grad():
        network = BNInception().eval()
        assert network(images).shape == (1, 1024, 7, 7)
        assert network(images[:, :, :96, :64]).shape == (1, 1024, 3, 2)


def test_a_known_image_gives_the_map_of_the_public_definition(file):
    with torch.no_grad():
        map_ = BNInception(str(file)).eval()(known_image())
    assert map_.shape == (1, 1024, 3, 3)
    figures = [map_.mean(), map_.std(), map_[0, :, 1, 2].sum(), map_[0, :, 2, 0].std()]
    figures += [map_[0, 300].sum(), map_[0, 900].sum()]
    expected = [243.71, 400.75, 257276.88, 358.13, 2707.27, 1306.9]
    torch.testing.assert_close(torch.stack(figures), torch.tensor(expected), rtol=1e-4, atol=0)


def test_it_sees_blue_first_from_0_to_255_without_its_mean():
    network = BNInception()
    red_green_blue = torch.tensor([10, 20, 30], dtype=torch.uint8).view(1, 3, 1, 1)
    found = network.pixels(red_green_blue).flatten().tolist()
    assert found == [30.0 - 104.0, 20.0 - 117.0, 10.0 - 128.0]


def test_its_batch_norms_are_those_the_field_trained():
    norms = [item for item in BNInception().modules() if isinstance(item, torch.nn.BatchNorm2d)]
    assert len(norms) == 69
    assert {(norm.momentum, norm.eps) for norm in norms} == {(0.9, 1e-5)}
