"""Rows of files come back as they were written, and whatever is wrong with a file is said."""

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from tests.trainables.embedding_files import written, written_in_one
from trainables.errors import TrialInputError
from trainables.saved_models.embedding_rows import open_rows

EMBEDDINGS = torch.arange(21, dtype=torch.float32).view(7, 3)
LABELS = torch.tensor([5, 5, 1, 0, 2, 1, 1])


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_npy_files_are_read_in_parts(tmp_path, dtype):
    rows = open_rows(*written(tmp_path, "rows", EMBEDDINGS.to(dtype), LABELS.int()))
    assert (len(rows), rows.dim) == (7, 3)
    parts = [part.read() for part in rows.parts(3)]
    assert [len(labels) for _, labels in parts] == [3, 3, 1]
    assert torch.equal(torch.cat([embeddings for embeddings, _ in parts]), EMBEDDINGS.to(dtype))
    assert torch.equal(torch.cat([labels for _, labels in parts]), LABELS)
    assert parts[0][1].dtype == torch.int64
    assert torch.equal(rows.labels(), LABELS)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_a_safetensors_file_holds_both(tmp_path, dtype):
    rows = open_rows(written_in_one(tmp_path, "rows", EMBEDDINGS.to(dtype), LABELS))
    _, second, _ = (part.read() for part in rows.parts(3))
    assert torch.equal(second[0], EMBEDDINGS[3:6].to(dtype))
    assert torch.equal(second[1], LABELS[3:6])


def test_numbers_of_other_machines_are_read(tmp_path):
    file, labels_file = tmp_path / "rows.npy", tmp_path / "labels.npy"
    np.save(file, EMBEDDINGS.numpy().astype(">f4"))
    np.save(labels_file, LABELS.numpy().astype(">u2"))
    embeddings, labels = open_rows(file, labels_file).read()
    assert torch.equal(embeddings, EMBEDDINGS)
    assert torch.equal(labels, LABELS)


@pytest.mark.parametrize("bad", [torch.nan, -torch.inf])
def test_the_row_that_is_not_finite_is_named_as_in_the_file(tmp_path, bad):
    embeddings = EMBEDDINGS.clone()
    embeddings[5, 1] = bad
    file, labels_file = written(tmp_path, "rows", embeddings, LABELS)
    *_, last = open_rows(file, labels_file).parts(4)
    with pytest.raises(TrialInputError, match=f"row 5 of {file} holds NaN or infinity"):
        last.read()


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
        open_rows(*written(tmp_path, "rows", embeddings, labels))


def test_missing_labels_are_refused(tmp_path):
    file, _ = written(tmp_path, "rows", EMBEDDINGS, LABELS)
    with pytest.raises(TrialInputError, match=r"holds no labels: name the .npy file that does"):
        open_rows(file)
    other = tmp_path / "rows.safetensors"
    save_file({"embeddings": EMBEDDINGS, "classes": LABELS}, other)
    with pytest.raises(TrialInputError, match="must hold 'labels'; it holds classes, embeddings"):
        open_rows(other)


def test_a_file_with_roles_of_its_own_is_refused(tmp_path):
    file = tmp_path / "rows.safetensors"
    save_file({"embeddings": EMBEDDINGS, "labels": LABELS, "gallery": LABELS > 1}, file)
    with pytest.raises(TrialInputError, match="says itself which of its images are a gallery"):
        open_rows(file)


@pytest.mark.parametrize("suffix", [".npy", ".safetensors"])
def test_missing_and_damaged_files_are_refused(tmp_path, suffix):
    _, labels_file = written(tmp_path, "other", EMBEDDINGS, LABELS)
    file = tmp_path / f"rows{suffix}"
    with pytest.raises(TrialInputError, match=r"rows\.\w+ cannot be read: "):
        open_rows(file, labels_file)
    for content in (b"", b"\x93NUMPY", b"no array at all, but long enough to be one"):
        file.write_bytes(content)
        with pytest.raises(TrialInputError, match=rf"damaged or no {suffix} file"):
            open_rows(file, labels_file)


def test_files_of_pickles_are_refused(tmp_path):
    file, labels_file = written(tmp_path, "rows", EMBEDDINGS, LABELS)
    np.save(labels_file, np.array([None] * 7, dtype=object), allow_pickle=True)
    with pytest.raises(TrialInputError, match=r"damaged or no .npy file"):
        open_rows(file, labels_file)


def test_other_files_are_refused(tmp_path):
    with pytest.raises(
        TrialInputError, match=r"must end in \.npy or \.safetensors; got .*rows.npz"
    ):
        open_rows(tmp_path / "rows.npz")


def test_a_file_that_has_shrunk_since_it_was_opened_is_refused(tmp_path):
    rows = open_rows(*written(tmp_path, "rows", EMBEDDINGS, LABELS))
    written(tmp_path, "rows", EMBEDDINGS[:4], LABELS[:4])
    with pytest.raises(TrialInputError, match="has changed since it was opened"):
        rows.read()
