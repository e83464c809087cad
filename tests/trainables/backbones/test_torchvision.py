"""Every network of torchvision against torchvision itself: the same file, the same image."""

import pytest
import torch
import torchvision

from podium.trainables.backbones._torchvision import TorchvisionBackbone
from podium.trainables.errors import TrialInputError
from podium.trainables.network.embedder import Embedder
from podium.trainables.registry import load, names
from podium.trainables.settings.training_settings import TrainingSettings
from tests.trainables.backbone_names import backbones
from tests.trainables.damaged_files import Touches

NETWORKS = [
    name for name in names("backbones") if issubclass(load("backbones", name), TorchvisionBackbone)
]


def classifier_of(model):
    """What stands behind the pooling of a model."""
    has_one_layer = isinstance(model, torchvision.models.ResNet | torchvision.models.GoogLeNet)
    return model.fc if has_one_layer else model.classifier


def normalised(name, images):
    """The published transform without its resize and crop, which are the data set's business."""
    published = torchvision.models.get_model_weights(name).DEFAULT.transforms()
    return torchvision.transforms.functional.normalize(
        images / 255.0, published.mean, published.std
    )


def published_model(name, inputs):
    """As torchvision makes it for its weights, with statistics and a head that tell something."""
    torch.manual_seed(0)
    options = {"init_weights": True, "transform_input": True} if name == "googlenet" else {}
    model = torchvision.models.get_model(name, weights=None, **options)
    for layer in model.modules():
        if isinstance(layer, torch.nn.Linear) and layer.out_features == 1000:
            torch.nn.init.normal_(layer.weight)
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.momentum = 1.0
    with torch.no_grad():
        model.train()(inputs)
    return model.eval()


@pytest.mark.parametrize("name", backbones(NETWORKS))
def test_pixels_weights_and_pooled_features_are_those_its_classifier_expects(name, tmp_path):
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(256, (2, 3, 64, 64), generator=generator, dtype=torch.uint8)
    inputs = normalised(name, images)
    model = published_model(name, inputs)
    file = tmp_path / "published.pth"
    torch.save(model.state_dict(), file)
    with torch.no_grad():
        expected, classify = model(inputs), classifier_of(model)
    del model  # the largest ones take 100 MB, and there will be two more of each
    embedder = Embedder(load("backbones", name)(str(file)), 2, TrainingSettings()).eval()
    with torch.no_grad():
        found = classify(embedder.features(images))
    assert (found - expected).norm() < 1e-3 * expected.norm()
    assert (found[0] - found[1]).norm() > 1e-2 * found.norm()


@pytest.mark.parametrize("name", NETWORKS)
def test_the_published_names_are_torchvisions_and_imagenet_is_the_first(name):
    published = [weights.name for weights in torchvision.models.get_model_weights(name)]
    assert list(load("backbones", name).published_weights) == published
    assert published[0] == "IMAGENET1K_V1"


@pytest.mark.parametrize(
    ("weights", "file"),
    [("imagenet", "resnet50-0676ba61.pth"), ("IMAGENET1K_V2", "resnet50-11ad3fa6.pth")],
)
def test_weights_that_cannot_be_downloaded_are_asked_for_by_file_and_address(
    weights, file, tmp_path, monkeypatch
):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nobody is there
    with pytest.raises(TrialInputError) as caught:
        load("backbones", "resnet50")(weights)
    message = str(caught.value)
    assert f"put {file} from https://download.pytorch.org/models/{file} there" in message
    assert str(tmp_path / "hub" / "checkpoints") in message
    assert "weights: PATH or weights: random" in message


def test_weights_in_the_cache_of_torch_need_no_download(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    torch.manual_seed(1)
    model = torchvision.models.resnet18()
    (tmp_path / "hub" / "checkpoints").mkdir(parents=True)
    torch.save(model.state_dict(), tmp_path / "hub" / "checkpoints" / "resnet18-f37072fd.pth")
    found = load("backbones", "resnet18")("imagenet")
    assert torch.equal(found.network.conv1.weight, model.conv1.weight)
    assert torch.equal(found.network.layer4[1].bn2.weight, model.layer4[1].bn2.weight)


@pytest.mark.parametrize("content", [b"", b"<html>not found</html>", b"PK\x03\x04 cut off"])
def test_a_damaged_file_in_the_cache_of_torch_is_named(content, tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    file = tmp_path / "hub" / "checkpoints" / "resnet18-f37072fd.pth"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    with pytest.raises(TrialInputError, match=rf"{file} cannot be read .*: delete it"):
        load("backbones", "resnet18")("imagenet")


def test_code_in_the_cache_of_torch_is_not_run(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    file = tmp_path / "hub" / "checkpoints" / "resnet18-f37072fd.pth"
    file.parent.mkdir(parents=True)
    torch.save({"conv1.weight": Touches(tmp_path / "mark")}, file)
    with pytest.raises(TrialInputError, match=rf"{file} cannot be read .*: delete it"):
        load("backbones", "resnet18")("imagenet")
    assert not (tmp_path / "mark").exists()


def test_weights_of_another_network_are_refused_with_a_few_names(tmp_path):
    file = tmp_path / "resnet50.pth"
    torch.save(torchvision.models.resnet50().state_dict(), file)
    with pytest.raises(
        TrialInputError,
        match=rf"the weights of {file} do not fit ResNet: layer1\.0\.conv1\.weight has shape "
        r"\(64, 64, 1, 1\) instead of \(64, 64, 3, 3\); .*; and \d+ more$",
    ):
        load("backbones", "resnet18")(str(file))
