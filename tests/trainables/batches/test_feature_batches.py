import numpy as np
import pytest
import torch

import podium.trainables.batches.feature_batches
from podium.trainables.batches.feature_batches import FeatureBatches
from podium.trainables.file_caches.feature_vectors import FeatureVectors

CPU = torch.device("cpu")
VALUES = np.random.default_rng(0).standard_normal((1300, 5)).astype(np.float32)
OF_ROLE = np.array([7, 3, 1299, 40])
BATCHES = [np.array([0, 2]), np.array([3, 3, 1])]


def batches(indices=OF_ROLE, values=VALUES, device=CPU):
    return FeatureBatches(FeatureVectors(values), indices, device)


def test_a_batch_holds_the_rows_of_its_images():
    first, second = batches().training(BATCHES, seed=0, num_views=1)
    np.testing.assert_array_equal(first.numpy(), VALUES[[7, 1299]])
    np.testing.assert_array_equal(second.numpy(), VALUES[[40, 40, 3]])
    assert first.dtype == torch.float32


def test_the_first_views_of_all_images_come_first():
    (found,) = batches().training([np.array([1, 0])], seed=0, num_views=3)
    np.testing.assert_array_equal(found.numpy(), VALUES[[3, 7, 3, 7, 3, 7]])


def test_no_seed_changes_anything():
    one, other = (list(batches().training(BATCHES, seed, num_views=1)) for seed in (0, 1))
    assert all(torch.equal(*pair) for pair in zip(one, other, strict=True))


def test_evaluation_goes_through_all_in_order():
    indices = np.random.default_rng(1).permutation(1300)
    chunks = list(batches(indices).evaluation())
    assert len(chunks) > 1
    np.testing.assert_array_equal(torch.cat(chunks).numpy(), VALUES[indices])


def test_half_precision_files_give_float32():
    half = VALUES.astype(np.float16)
    (found,) = batches(values=half).training([np.array([2])], seed=0, num_views=1)
    assert found.dtype == torch.float32
    np.testing.assert_array_equal(found.numpy(), half[[1299]].astype(np.float32))


def test_what_is_done_to_a_batch_leaves_the_file_as_it_is(tmp_path):
    np.save(tmp_path / "features.npy", VALUES)
    mapped = np.load(tmp_path / "features.npy", mmap_mode="r")
    for found in batches(values=mapped).evaluation():
        found.zero_()
    np.testing.assert_array_equal(np.load(tmp_path / "features.npy"), VALUES)


@pytest.mark.gpu
@pytest.mark.parametrize("share", [0.25, 0.0])
def test_where_the_rows_lie_changes_no_number(monkeypatch, share):
    monkeypatch.setattr(podium.trainables.batches.feature_batches, "_MAX_SHARE", share)
    cuda = torch.device("cuda")
    before = torch.cuda.memory_allocated()
    on_gpu = batches(np.arange(1300), device=cuda)
    assert (torch.cuda.memory_allocated() > before) == (share > 0.0)
    on_cpu = batches(np.arange(1300))
    pairs = zip(on_gpu.training(BATCHES, 0, 2), on_cpu.training(BATCHES, 0, 2), strict=True)
    for found, expected in pairs:
        assert found.device.type == "cuda"
        assert torch.equal(found.cpu(), expected)
    np.testing.assert_array_equal(torch.cat(list(on_gpu.evaluation())).cpu().numpy(), VALUES)
