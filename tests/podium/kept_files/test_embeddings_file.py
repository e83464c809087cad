"""Embeddings come back as they were written, and whatever is wrong with a file is said."""

from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load, save

from podium.errors import CorruptFileError, PodiumError
from podium.kept_files.embeddings_file import decode_embeddings, read_embeddings
from podium.kept_files.tensor_file import encode_tensors
from tests.analysis.stored_embeddings import clusters, embeddings_file

FILE = embeddings_file(*clusters(3, 4))
CONTENT = FILE.to_bytes()


@pytest.mark.parametrize("is_gallery_N", [None, np.arange(12) % 2 == 0])
def test_a_file_reads_back_as_it_was_written(tmp_path, is_gallery_N):
    written = replace(FILE, is_gallery_N=is_gallery_N, image_names=("a", "b"))
    path = tmp_path / "t.0.safetensors"
    path.write_bytes(written.to_bytes())
    found = read_embeddings(path)

    for name in ("fold", "epoch", "task", "dataset", "class_names", "image_names", "scores"):
        assert getattr(found, name) == getattr(written, name)
    for name in ("embeddings_ND", "labels_N", "indices_N"):
        np.testing.assert_array_equal(getattr(found, name), getattr(written, name), strict=True)
    assert (found.is_gallery_N is None) == (is_gallery_N is None)
    assert found.to_bytes() == written.to_bytes()


def test_scores_are_found_by_metric_and_k():
    assert (FILE.score("recall", 1), FILE.score("nmi", None)) == (0.5, 0.4)
    assert FILE.score("recall", 2) is None


def test_any_safetensors_reader_gets_the_arrays():
    assert load(CONTENT).keys() == {"embeddings", "labels", "indices"}


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.3, 0.6, 0.95, 0.999])
def test_a_changed_byte_is_found_wherever_it_lies(share):
    content = bytearray(CONTENT)
    content[int(share * len(content))] ^= 1

    with pytest.raises(CorruptFileError, match=r"t\.0\.safetensors"):
        decode_embeddings(bytes(content), "t.0.safetensors")


def test_a_cut_or_missing_file_is_an_error(tmp_path):
    with pytest.raises(CorruptFileError, match="damaged"):
        decode_embeddings(CONTENT[:-7], "x")
    with pytest.raises(PodiumError, match="cannot be read: No such file"):
        read_embeddings(tmp_path / "none.safetensors")


def test_files_of_others_and_of_models_are_refused():
    with pytest.raises(CorruptFileError, match="that podium did not write"):
        decode_embeddings(save({"embeddings": np.zeros((2, 2))}), "x")
    model = encode_tensors("model", {}, {"weight": np.zeros((2, 2))})
    with pytest.raises(CorruptFileError, match="must hold podium's embeddings; it holds 'model'"):
        decode_embeddings(model, "x")


def test_a_file_that_lacks_a_fact_or_an_array_says_which():
    facts = {"fold": 0}
    with pytest.raises(CorruptFileError, match="it has no 'epoch'"):
        decode_embeddings(encode_tensors("embeddings", facts, {}), "x")
