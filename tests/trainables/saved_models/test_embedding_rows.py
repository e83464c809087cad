"""Rows of files come back as they were written, and whatever is wrong with a file is said."""

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from podium.trainables.errors import TrialInputError
from podium.trainables.saved_models.embedding_rows import read_rows
from tests.trainables.embedding_files import written, written_in_one

EMBEDDINGS = torch.arange(21, dtype=torch.float32).view(7, 3)
LABELS = torch.tensor([5, 5, 1, 0, 2, 1, 1])


def read(file, labels_file=None):
    return read_rows(file, labels_file, strict=False)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_npy_files_are_read(tmp_path, dtype):
    rows = read(*written(tmp_path, "rows", EMBEDDINGS.to(dtype), LABELS.int()))
    assert torch.equal(rows.embeddings_ND, EMBEDDINGS.to(dtype))
    assert torch.equal(rows.labels_N, LABELS)
    assert rows.is_gallery_N is None


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_a_safetensors_file_holds_both(tmp_path, dtype):
    rows = read(written_in_one(tmp_path, "rows", EMBEDDINGS.to(dtype), LABELS))
    assert torch.equal(rows.embeddings_ND, EMBEDDINGS.to(dtype))
    assert torch.equal(rows.labels_N, LABELS)


def test_numbers_of_other_machines_are_read(tmp_path):
    file, labels_file = tmp_path / "rows.npy", tmp_path / "labels.npy"
    np.save(file, EMBEDDINGS.numpy().astype(">f4"))
    np.save(labels_file, LABELS.numpy().astype(">u2"))
    rows = read(file, labels_file)
    assert torch.equal(rows.embeddings_ND, EMBEDDINGS)
    assert torch.equal(rows.labels_N, LABELS)


def test_a_file_may_say_which_images_are_the_gallery(tmp_path):
    file = tmp_path / "rows.safetensors"
    save_file({"embeddings": EMBEDDINGS, "labels": LABELS, "gallery": LABELS > 1}, file)
    assert torch.equal(read(file).is_gallery_N, LABELS > 1)


@pytest.mark.parametrize(
    ("embeddings", "labels", "words"),
    [
        (EMBEDDINGS[0], LABELS, r"\(rows, dimensions\).*float32 of shape \(3,\)"),
        (EMBEDDINGS[:0], LABELS[:0], r"float32 of shape \(0, 3\)"),
        (LABELS[:, None], LABELS, r"must be floats.*int64 of shape \(7, 1\)"),
        (EMBEDDINGS, LABELS[:6], r"each of the 7 embeddings.*int64 of shape \(6,\)"),
        (EMBEDDINGS, LABELS.double(), r"one whole number as its label.*float64"),
    ],
)
def test_wrong_shapes_and_types_are_refused(tmp_path, embeddings, labels, words):
    with pytest.raises(TrialInputError, match=words):
        read(*written(tmp_path, "rows", embeddings, labels))


def test_missing_arrays_are_refused(tmp_path):
    file, labels_file = written(tmp_path, "rows", EMBEDDINGS, LABELS)
    with pytest.raises(TrialInputError, match=r"holds no labels: name the .npy file that does"):
        read(file)
    other = tmp_path / "rows.safetensors"
    save_file({"points": EMBEDDINGS, "classes": LABELS}, other)
    with pytest.raises(TrialInputError, match="must hold 'embeddings'; it holds classes, points"):
        read(other)
    with pytest.raises(TrialInputError, match="must hold 'labels'; it holds classes, points"):
        read(file, other)
    assert len(read(file, labels_file).labels_N) == 7


@pytest.mark.parametrize("suffix", [".npy", ".safetensors"])
def test_missing_and_damaged_files_are_refused(tmp_path, suffix):
    _, labels_file = written(tmp_path, "other", EMBEDDINGS, LABELS)
    file = tmp_path / f"rows{suffix}"
    with pytest.raises(TrialInputError, match=r"rows\.\w+ cannot be read: "):
        read(file, labels_file)
    for content in (b"", b"\x93NUMPY", b"no array at all, but long enough to be one"):
        file.write_bytes(content)
        with pytest.raises(TrialInputError, match=rf"damaged or no {suffix} file"):
            read(file, labels_file)


def test_files_of_pickles_are_refused(tmp_path):
    file, labels_file = written(tmp_path, "rows", EMBEDDINGS, LABELS)
    np.save(labels_file, np.array([None] * 7, dtype=object), allow_pickle=True)
    with pytest.raises(TrialInputError, match=r"holds Python objects"):
        read(file, labels_file)


def test_other_files_are_refused(tmp_path):
    words = r"must end in \.npy or \.safetensors; got .*rows.npz"
    with pytest.raises(TrialInputError, match=words):
        read(tmp_path / "rows.npz")
