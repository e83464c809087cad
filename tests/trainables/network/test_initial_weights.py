import hashlib
import os
import re

import pytest

from podium.trainables.errors import TrialInputError
from podium.trainables.network import initial_weights
from podium.trainables.network.initial_weights import (
    not_downloaded,
    weights_fingerprint,
    weights_problem,
)
from podium.trainables.settings.trial_settings import BackboneSettings

FILES = r"the path of a file \(\.pth, \.pt, \.tar, \.safetensors\)"


def settings(name, weights="random"):
    return BackboneSettings(name=name, weights=weights)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "weights.pth"
    path.write_bytes(b"some weights")
    return path


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("resnet50", "imagenet"),
        ("resnet50", "IMAGENET1K_V2"),
        ("resnet50", "random"),
        ("bn_inception", "random"),
        ("timm:resnet50.a1_in1k", "imagenet"),
        ("timm:resnet50", "random"),
        ("package.module:Net", "random"),
    ],
)
def test_nothing_is_wrong_with_what_can_be_had(name, weights):
    assert weights_problem(settings(name, weights)) is None


@pytest.mark.parametrize("name", ["resnet50", "bn_inception", "timm:resnet50", "module:Net"])
def test_nothing_is_wrong_with_a_file_that_is_there(name, file):
    assert weights_problem(settings(name, str(file))) is None


@pytest.mark.parametrize(
    ("name", "weights", "problem"),
    [
        (
            "resnet50",
            "IMAGENET1K_V3",
            r"unknown weights 'IMAGENET1K_V3' of resnet50 \(did you mean 'IMAGENET1K_V2' or "
            r"'IMAGENET1K_V1'\?\); known: imagenet, IMAGENET1K_V1, IMAGENET1K_V2, random, "
            f"{FILES}",
        ),
        ("resnet18", "IMAGENET1K_V2", "unknown weights 'IMAGENET1K_V2' of resnet18"),
        ("resnet50", "/nowhere/w.pth", "weights of resnet50: there is no file /nowhere/w.pth"),
        ("resnet50", "/nowhere/w.zip", "unknown weights '/nowhere/w.zip' of resnet50"),
        (
            "conv_small",
            "imagenet",
            rf"conv_small has no imagenet weights to download; give {FILES}, or random",
        ),
        (
            "conv_small",
            "imagnet",
            f"unknown weights 'imagnet' of conv_small; known: random, {FILES}",
        ),
        ("bn_inception", "imagenet", r"published as bn_inception-52deb4733\.pth with Cadene's"),
        ("timm:resnet50", "imagenet", r"by a tag: use timm:resnet50\.TAG"),
        ("timm:resnet50.a1_in1k", "a1", "known: imagenet, random, the path"),
        ("module:Net", "/nowhere/w.pt", "weights of module:Net: there is no file /nowhere/w.pt"),
    ],
)
def test_what_cannot_be_had_is_reported_with_what_can(name, weights, problem):
    assert re.search(problem, weights_problem(settings(name, weights)))
    with pytest.raises(TrialInputError, match=problem):
        weights_fingerprint(settings(name, weights))


def test_published_weights_are_known_by_their_name_however_they_are_asked_for():
    assert weights_fingerprint(settings("resnet50", "imagenet")) == "resnet50/IMAGENET1K_V1"
    assert weights_fingerprint(settings("resnet50", "IMAGENET1K_V1")) == "resnet50/IMAGENET1K_V1"
    assert weights_fingerprint(settings("resnet50", "IMAGENET1K_V2")) == "resnet50/IMAGENET1K_V2"
    assert weights_fingerprint(settings("resnet18", "imagenet")) == "resnet18/IMAGENET1K_V1"
    name = "timm:resnet50.a1_in1k"
    assert weights_fingerprint(settings(name, "imagenet")) == f"{name}/imagenet"
    assert weights_fingerprint(settings("resnet50")) == "random"


def test_a_file_is_known_by_its_content_wherever_it_lies(file, tmp_path):
    expected = "sha256:" + hashlib.sha256(b"some weights").hexdigest()
    other = tmp_path / "other.pt"
    other.write_bytes(b"some weights")
    for name, path in (("resnet50", file), ("bn_inception", other), ("module:Net", other)):
        assert weights_fingerprint(settings(name, str(path))) == expected


def test_a_file_is_read_once_until_it_changes(file, monkeypatch):
    reads = []

    def counted(opened, algorithm):
        reads.append(opened.name)
        return digest(opened, algorithm)

    digest = hashlib.file_digest
    monkeypatch.setattr(initial_weights.hashlib, "file_digest", counted)
    first = weights_fingerprint(settings("resnet50", str(file)))
    assert weights_fingerprint(settings("resnet50", str(file))) == first
    assert len(reads) == 1
    file.write_bytes(b"same length!")
    os.utime(file, ns=(1, 1))  # a clock too coarse to tell the two writes apart
    assert weights_fingerprint(settings("resnet50", str(file))) != first
    assert len(reads) == 2


@pytest.mark.parametrize("home", ["TORCH_HOME", "XDG_CACHE_HOME"])
def test_where_published_weights_belong_is_told_until_they_are_there(tmp_path, monkeypatch, home):
    monkeypatch.delenv("TORCH_HOME", raising=False)
    monkeypatch.setenv(home, str(tmp_path))
    cache = tmp_path if home == "TORCH_HOME" else tmp_path / "torch"
    folder = cache / "hub" / "checkpoints"
    assert not_downloaded(settings("resnet18", "imagenet")) == folder
    for weights in ("random", str(tmp_path / "own.pth")):
        assert not_downloaded(settings("resnet18", weights)) is None
    folder.mkdir(parents=True)
    (folder / "resnet18-f37072fd.pth").touch()
    assert not_downloaded(settings("resnet18", "imagenet")) is None
    assert not_downloaded(settings("resnet50", "imagenet")) == folder
