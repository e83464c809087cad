"""Embeddings come back as they were written, and whatever is wrong with a file is said."""

from dataclasses import replace

import numpy as np
import pytest

from podium.errors import CorruptFileError
from podium.kept_files.embeddings_file import decode_embeddings, read_embeddings
from podium.kept_files.tensor_file import encode_tensors
from tests.analysis.stored_embeddings import clusters, embeddings_file

FILE = embeddings_file(*clusters(3, 4))


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


def test_a_file_that_lacks_a_fact_or_an_array_says_which():
    facts = {"fold": 0, "by_direction": True}
    with pytest.raises(CorruptFileError, match="it has no 'epoch'"):
        decode_embeddings(encode_tensors("embeddings", facts, {}), "x")
