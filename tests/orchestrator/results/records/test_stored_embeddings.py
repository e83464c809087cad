"""What trainables wrote with torch is read without it. The oracle is trainables' own reader."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import save

from orchestrator.results.records.stored_embeddings import read_stored_embeddings
from podium.errors import CorruptFileError
from tests.analysis.stored_embeddings import clusters, embeddings_file
from trainables.saved_models.embeddings_file import read_embeddings
from trainables.tensor_file import encode_tensors


@pytest.fixture
def embeddings_path(tmp_path):
    path = tmp_path / "t.0.safetensors"
    path.write_bytes(embeddings_file(*clusters(3, 4)).to_bytes())
    return path


def test_it_reads_what_torch_reads(embeddings_path):
    stored, expected = read_stored_embeddings(embeddings_path), read_embeddings(embeddings_path)

    assert np.array_equal(stored.embeddings_ND, expected.embeddings_ND.numpy())
    assert np.array_equal(stored.labels_N, expected.labels_N.numpy())
    assert np.array_equal(stored.indices_N, expected.indices_N.numpy())
    assert stored.class_names == expected.class_names
    assert stored.by_direction is expected.by_direction
    assert stored.test_hash == expected.dataset["test_hash"]
    assert stored.is_gallery_N is None
    assert stored.scores == {("recall", 1): 0.5, ("nmi", None): 0.4}


def test_a_file_with_a_gallery_is_read_too(embeddings_path, tmp_path):
    path = tmp_path / "gallery.safetensors"
    is_gallery_N = torch.arange(12) % 2 == 0
    path.write_bytes(
        replace(read_embeddings(embeddings_path), is_gallery_N=is_gallery_N).to_bytes()
    )

    assert read_stored_embeddings(path).is_gallery_N.tolist() == is_gallery_N.tolist()


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.3, 0.6, 0.95, 0.999])
def test_a_changed_byte_is_found_wherever_it_lies(embeddings_path, share):
    content = bytearray(embeddings_path.read_bytes())
    content[int(share * len(content))] ^= 1
    embeddings_path.write_bytes(content)

    with pytest.raises(CorruptFileError, match=r"t\.0\.safetensors"):
        read_stored_embeddings(embeddings_path)


def test_a_cut_or_missing_file_is_an_error(embeddings_path):
    embeddings_path.write_bytes(embeddings_path.read_bytes()[:-7])
    with pytest.raises(CorruptFileError, match="damaged"):
        read_stored_embeddings(embeddings_path)

    embeddings_path.unlink()
    with pytest.raises(CorruptFileError, match="is missing"):
        read_stored_embeddings(embeddings_path)


def test_files_of_others_and_of_models_are_refused(embeddings_path):
    embeddings_path.write_bytes(save({"embeddings": torch.zeros(2, 2)}))
    with pytest.raises(CorruptFileError, match="not a file of podium"):
        read_stored_embeddings(embeddings_path)

    embeddings_path.write_bytes(encode_tensors("model", {}, {"weight": torch.zeros(2, 2)}))
    with pytest.raises(CorruptFileError, match="must hold embeddings; it holds 'model'"):
        read_stored_embeddings(embeddings_path)


def test_a_file_that_lacks_a_fact_says_which(embeddings_path):
    embeddings_path.write_bytes(
        encode_tensors("embeddings", {"fold": 0}, {"embeddings": torch.zeros(2, 2)})
    )

    with pytest.raises(CorruptFileError, match="it has no 'class_names'"):
        read_stored_embeddings(embeddings_path)
