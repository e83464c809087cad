"""Files made by somebody who means harm: refused, and nothing of them is run."""

import io
import json
import struct

import pytest
import torch

from podium.errors import CorruptFileError
from podium.kept_files.embeddings_file import read_embeddings
from podium.trainables.errors import CheckpointError
from podium.trainables.saved_models.model_file import read_model
from podium.trainables.trial.checkpoint import add_checksum, decode
from tests.trainables.damaged_files import Touches


@pytest.mark.parametrize("place", ["identity", "reports", "fold_state"])
def test_a_checkpoint_with_code_is_refused_and_not_run(tmp_path, place):
    values = {"identity": "x", "reports": "[]", "fold_state": None}
    buffer = io.BytesIO()
    torch.save({**values, place: Touches(tmp_path / "mark")}, buffer)
    with pytest.raises(CheckpointError, match="would run code"):
        decode(add_checksum(buffer.getvalue()), "x")
    assert not (tmp_path / "mark").exists()


def _file(header: bytes, size: int | None = None, data: bytes = b"") -> bytes:
    return struct.pack("<Q", len(header) if size is None else size) + header + data


def _header(**tensors: object) -> bytes:
    return json.dumps(tensors).encode()


TENSOR = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
HOSTILE = {
    "empty": b"",
    "huge_header": _file(b"{}", size=2**63 - 1),
    "header_longer_than_file": _file(b"{}", size=10_000),
    "no_json": _file(b"{"),
    "list": _file(b"[]"),
    "nested": _file(b"[" * 50_000),
    "huge_tensor": _file(_header(a={**TENSOR, "shape": [2**40], "data_offsets": [0, 2**42]})),
    "overflow": _file(_header(a={**TENSOR, "shape": [2**62, 8]})),
    "outside": _file(_header(a={**TENSOR, "data_offsets": [10, 14]}), data=bytes(4)),
    "overlap": _file(_header(a=TENSOR, b=TENSOR), data=bytes(4)),
    "no_facts": _file(_header(a=TENSOR), data=bytes(4)),
    "facts_no_json": _file(_header(__metadata__={"podium": "{"}, a=TENSOR), data=bytes(4)),
    "facts_nested": _file(_header(__metadata__={"podium": "[" * 50_000}, a=TENSOR), data=bytes(4)),
    "facts_list": _file(_header(__metadata__={"podium": "[]"}, a=TENSOR), data=bytes(4)),
    "pickle": b"\x80\x04cos\nsystem\n(S'touch mark'\ntR.",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_headers_of_models_and_embeddings_are_refused(tmp_path, name):
    file = tmp_path / "x.safetensors"
    file.write_bytes(HOSTILE[name])
    with pytest.raises(CorruptFileError, match=str(file)):
        read_model(file)
    with pytest.raises(CorruptFileError, match=str(file)):
        read_embeddings(file)
