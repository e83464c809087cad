import collections
import pickle

import pytest
import torch
from safetensors.torch import save_file

from podium.trainables.backbones.conv_small import ConvSmall
from podium.trainables.backbones.identity import Identity
from podium.trainables.backbones.mlp import Mlp
from podium.trainables.errors import TrialInputError
from podium.trainables.network.load_weights import fill, read_weights
from tests.trainables.damaged_files import Touches


@pytest.fixture
def tensors():
    torch.manual_seed(3)
    return ConvSmall().state_dict()


def same(found, expected):
    return found.keys() == expected.keys() and all(
        torch.equal(found[name], expected[name]) for name in expected
    )


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda tensors: tensors,
        lambda tensors: {"state_dict": tensors, "epoch": 4},
        lambda tensors: {"model": tensors, "optimizer": {"lr": 0.1}},
        lambda tensors: {f"module.{name}": value for name, value in tensors.items()},
        lambda tensors: {"state_dict": {f"module.{key}": tensors[key] for key in tensors}},
    ],
)
def test_files_of_torch_are_read_however_training_scripts_wrap_them(tensors, wrapped, tmp_path):
    file = tmp_path / "weights.pth.tar"
    torch.save(wrapped(tensors), file)
    assert same(ConvSmall(str(file)).state_dict(), tensors)


def test_safetensors_are_read(tensors, tmp_path):
    file = tmp_path / "weights.safetensors"
    save_file({name: value.contiguous() for name, value in tensors.items()}, file)
    assert same(ConvSmall(str(file)).state_dict(), tensors)


def test_a_home_folder_is_found(tensors, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    torch.save(tensors, tmp_path / "weights.pt")
    assert same(ConvSmall("~/weights.pt").state_dict(), tensors)


def test_a_file_that_runs_code_is_refused_without_running_it(tmp_path):
    torch.save({"state_dict": Touches(tmp_path / "sprung")}, tmp_path / "weights.pt")
    with pytest.raises(TrialInputError, match=r"weights\.pt cannot be read: .* would run code"):
        read_weights(tmp_path / "weights.pt")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("name", ["weights.pt", "weights.safetensors"])
@pytest.mark.parametrize("content", [b"", b"no weights at all", b"PK\x03\x04 cut off"])
def test_a_damaged_file_is_named(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TrialInputError, match=f"weights: .*{name} cannot be read"):
        read_weights(tmp_path / name)


@pytest.mark.parametrize("content", [b"no weights at all", pickle.dumps(int, protocol=2)])
def test_none_is_reported_to_run_the_code_of_a_file(content, tmp_path):
    (tmp_path / "weights.pth").write_bytes(content)
    with pytest.raises(TrialInputError) as caught:
        read_weights(tmp_path / "weights.pth")
    assert "save only its state dict" in str(caught.value)
    assert "weights_only" not in str(caught.value)


def test_half_precision_becomes_single(tensors, tmp_path):
    half = {
        key: value.half() if value.is_floating_point() else value for key, value in tensors.items()
    }
    torch.save(half, tmp_path / "weights.pt")
    found = ConvSmall(str(tmp_path / "weights.pt")).state_dict()
    assert {key: value.dtype for key, value in found.items()} == {
        key: value.dtype for key, value in tensors.items()
    }


@pytest.mark.parametrize("content", [[1, 2], {}, {"a": 1}, {"state_dict": {"a": "b"}}])
def test_a_file_without_named_tensors_is_refused(content, tmp_path):
    torch.save(content, tmp_path / "weights.pt")
    with pytest.raises(TrialInputError, match="holds no state dict"):
        read_weights(tmp_path / "weights.pt")


def test_older_files_of_torch_are_read(tensors, tmp_path):
    file = tmp_path / "weights.pth"
    torch.save(collections.OrderedDict(tensors), file, _use_new_zipfile_serialization=False)
    assert file.read_bytes()[:1] == pickle.PROTO
    assert same(read_weights(file), tensors)


def test_files_from_before_batches_were_counted_go_in(tensors, tmp_path):
    old = {name: value for name, value in tensors.items() if "num_batches" not in name}
    assert len(old) < len(tensors)
    torch.save(old, tmp_path / "weights.pt")
    assert same(ConvSmall(str(tmp_path / "weights.pt")).state_dict(), tensors)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layers.0.weight": None}, r"layers\.0\.weight is missing$"),
        ({"head.weight": torch.zeros(2)}, r"head\.weight is unexpected$"),
        (
            {"layers.0.weight": torch.zeros(16, 3, 5, 5)},
            r"layers\.0\.weight has shape \(16, 3, 5, 5\) instead of \(16, 1, 5, 5\)$",
        ),
        (
            {"layers.0.weight": torch.zeros(16, 1, 5, 5, dtype=torch.int8)},
            r"layers\.0\.weight holds int8 instead of floating point$",
        ),
        (
            {"layers.0.weight": torch.empty(16, 1, 5, 5, device="meta")},
            r"layers\.0\.weight holds no dense numbers$",
        ),
        (
            {"layers.1.running_var": torch.full((16,), float("nan"))},
            r"layers\.1\.running_var holds numbers that are NaN or infinite$",
        ),
        (
            {f"extra_{index}": torch.zeros(1) for index in range(8)},
            "extra_0 is unexpected; extra_1 is unexpected; extra_2 is unexpected; and 5 more$",
        ),
    ],
)
def test_tensors_that_do_not_fit_are_named_with_the_file(tensors, change, message, tmp_path):
    changed = {**tensors, **change}
    file = tmp_path / "weights.pt"
    torch.save({name: value for name, value in changed.items() if value is not None}, file)
    with pytest.raises(
        TrialInputError, match=f"the weights of {file} do not fit ConvSmall: {message}"
    ):
        ConvSmall(str(file))


def test_what_a_network_does_not_use_is_left_out(tensors):
    network = ConvSmall()
    more = {**tensors, "fc.weight": torch.zeros(1), "fcx": torch.zeros(1)}
    with pytest.raises(TrialInputError, match="fcx is unexpected"):
        fill(network, more, "a file", unused=["fc."])
    del more["fcx"]
    fill(network, more, "a file", unused=["fc."])
    assert same(network.state_dict(), tensors)


def test_networks_for_vectors_start_from_files_too(tmp_path):
    torch.manual_seed(0)
    weights = Mlp(num_inputs=6).state_dict()
    file = tmp_path / "mlp.pt"
    torch.save(weights, file)
    assert same(Mlp(str(file), num_inputs=6).state_dict(), weights)
    with pytest.raises(TrialInputError, match=r"has shape \(512, 6\) instead of \(512, 7\)"):
        Mlp(str(file), num_inputs=7)
    with pytest.raises(TrialInputError, match=r"layers\.0\.weight is unexpected"):
        Identity(str(file), num_inputs=6)


@pytest.mark.parametrize("below", ["", "network."])
def test_of_a_model_that_podium_exported_the_backbone_is_read(tensors, below, tmp_path):
    model = {f"backbone.{below}{name}": value.contiguous() for name, value in tensors.items()}
    rest = {"embedding.weight": torch.ones(2, 1024), "embedding.bias": torch.ones(2)}
    file = tmp_path / "model.safetensors"
    save_file({**model, **rest, "loss.proxies": torch.ones(3, 2)}, file)
    assert same(ConvSmall(str(file)).state_dict(), tensors)


def test_what_is_only_called_like_a_backbone_is_read_as_it_is(tensors, tmp_path):
    file = tmp_path / "weights.safetensors"
    save_file({f"backbone.{name}": value.contiguous() for name, value in tensors.items()}, file)
    with pytest.raises(TrialInputError, match=r"layers\.0\.weight is missing"):
        ConvSmall(str(file))
