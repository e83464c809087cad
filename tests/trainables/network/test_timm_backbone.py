"""Networks of timm, an optional extra: most of this is skipped where it is not installed."""

import importlib.util
import sys

import pytest
import torch
from torchvision.transforms.functional import normalize

from podium.trainables.errors import TrialInputError
from podium.trainables.network.make_backbone import make_backbone
from podium.trainables.settings.trial_settings import BackboneSettings

needs_timm = pytest.mark.skipif(not importlib.util.find_spec("timm"), reason="needs timm")
IMAGES = torch.randint(256, (2, 3, 64, 64), generator=torch.Generator().manual_seed(0)).byte()


def made(name, weights="random"):
    torch.manual_seed(0)
    return make_backbone(BackboneSettings(name=f"timm:{name}", weights=weights))


def test_without_timm_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(TrialInputError, match=r"needs timm: pip install 'podium\[timm\]'"):
        made("resnet18")


@needs_timm
@pytest.mark.parametrize("name", ["resnet18", "mobilenetv3_small_050", "convnext_atto"])
def test_features_are_what_its_classifier_gets(name, tmp_path):
    import timm

    torch.manual_seed(1)
    model = timm.create_model(name).eval()
    torch.save(model.state_dict(), tmp_path / "weights.pt")
    backbone = made(name, str(tmp_path / "weights.pt")).eval()
    inputs = normalize(IMAGES / 255.0, model.pretrained_cfg["mean"], model.pretrained_cfg["std"])
    with torch.no_grad():
        found = backbone(IMAGES)
        expected = model.forward_head(model.forward_features(inputs), pre_logits=True)
    assert found.shape == (2, backbone.num_features)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-3)


@needs_timm
def test_a_network_of_one_image_size_says_so():
    backbone = made("vit_tiny_patch16_224")
    with pytest.raises(TrialInputError, match="takes images of 224 x 224 only, but got 64 x 64"):
        backbone(IMAGES)


@needs_timm
@pytest.mark.parametrize(
    ("name", "weights", "message"),
    [
        ("resnet5o", "random", r"timm has no network 'resnet5o' \(did you mean 'resnet50'"),
        (
            "resnet18.mine",
            "random",
            r"no weights for 'resnet18\.mine'; known: .*resnet18\.a1_in1k",
        ),
        ("resnet18", "imagnet", r"did you mean 'imagenet'\?\); known: imagenet, random"),
        ("resnet18.a1_in1k", "imagenet", r"a1_in1k could not be fetched .* or weights: random"),
    ],
)
def test_what_timm_does_not_have_is_refused(name, weights, message, monkeypatch, tmp_path):
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(TrialInputError, match=message):
        made(name, weights)
