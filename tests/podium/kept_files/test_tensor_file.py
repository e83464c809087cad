import hashlib
import json

import numpy as np
import pytest
from safetensors.numpy import load, save

from podium.errors import CorruptFileError
from podium.kept_files.tensor_file import decode_tensors, encode_tensors, tensor_hash

FACTS = {"name": "é", "numbers": [1, 2.5, None]}
TENSORS = {
    "weight": np.array([[0.1, -2.0], [3.0, np.inf]], dtype=np.float32),
    "count": np.array(7),
    "flags": np.array([True, False, True]),
    "empty": np.empty((0, 3), dtype=np.float32),
}


def test_a_file_reads_back_as_it_was_written():
    facts, tensors = decode_tensors(encode_tensors("model", FACTS, TENSORS), "model", "x")
    assert facts == FACTS
    assert tensors.keys() == TENSORS.keys()
    for name, value in TENSORS.items():
        np.testing.assert_array_equal(tensors[name], value, strict=True)


def test_the_bytes_do_not_depend_on_order_or_layout():
    transposed = np.array([[0.1, 3.0], [-2.0, np.inf]], dtype=np.float32).T
    other = {"flags": TENSORS["flags"], **TENSORS, "weight": transposed}
    assert not other["weight"].flags.c_contiguous
    shuffled = dict(reversed(list(other.items())))
    facts = dict(reversed(list(FACTS.items())))
    assert encode_tensors("model", facts, shuffled) == encode_tensors("model", FACTS, TENSORS)


def test_any_safetensors_reader_gets_the_tensors():
    read = load(encode_tensors("model", FACTS, TENSORS))
    assert read["weight"].tolist() == TENSORS["weight"].tolist()


def test_every_flipped_bit_is_reported():
    content = encode_tensors("model", {"a": 1}, {"w": np.array([1.0, 2.0])})
    for place in range(len(content)):
        for bit in (1, 4, 32):
            damaged = bytearray(content)
            damaged[place] ^= bit
            with pytest.raises(CorruptFileError, match=r"damaged|did not write"):
                decode_tensors(bytes(damaged), "model", "x")


@pytest.mark.parametrize("length", [0, 3, 8, 40, -1])
def test_a_file_that_was_cut_off_is_reported(length):
    content = encode_tensors("model", FACTS, TENSORS)[:length]
    with pytest.raises(CorruptFileError, match="x is not a safetensors file, or is damaged"):
        decode_tensors(content, "model", "x")


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}, {"podium": "3"}])
def test_a_file_of_somebody_else_is_reported(metadata):
    content = save({"w": np.ones(2)}, metadata=metadata)
    with pytest.raises(CorruptFileError, match="podium did not write"):
        decode_tensors(content, "model", "x")


def test_a_file_of_another_kind_is_reported():
    content = encode_tensors("embeddings", FACTS, TENSORS)
    with pytest.raises(CorruptFileError, match="must hold podium's model; it holds 'embeddings'"):
        decode_tensors(content, "model", "x")


def test_the_hash_is_that_of_names_types_shapes_and_bytes():
    weight = np.array([[1.0, 2.0]], dtype=np.float32)
    said = b"count torch.int64 []\n" + (7).to_bytes(8, "little")
    said += b"weight torch.float32 [1, 2]\n" + weight.tobytes()
    expected = hashlib.sha256(said).hexdigest()
    assert tensor_hash({"weight": weight, "count": np.array(7)}) == expected
    assert tensor_hash({"weight": weight.T, "count": np.array(7)}) != expected


def test_the_facts_can_be_read_without_podium():
    content = encode_tensors("model", FACTS, TENSORS)
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])["__metadata__"]["podium"]
    assert json.loads(header)["facts"] == FACTS


@pytest.mark.parametrize("facts", [None, [1], "x"])
def test_facts_are_a_mapping(facts):
    with pytest.raises(CorruptFileError, match="x must hold podium's model"):
        decode_tensors(encode_tensors("model", facts, TENSORS), "model", "x")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"kind": NaN, "sha256": ""}', "{"])
def test_a_text_that_podium_does_not_write_is_reported(text):
    with pytest.raises(CorruptFileError, match="x is not a safetensors file, or is damaged"):
        decode_tensors(save(TENSORS, metadata={"podium": text}), "model", "x")
