"""Networks of timm, an optional extra: most of this is skipped where it is not installed."""

import importlib.util
import sys

import pytest
import torch
from torchvision.transforms.functional import normalize

from podium.trainables.errors import TrialInputError
from podium.trainables.network.make_backbone import make_backbone
from podium.trainables.network.timm_facts import timm_facts, timm_networks
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


# What users of 2026 bring, at the sizes that they use; smaller siblings of the same classes.
RESIZED = {
    "vit_small_patch14_dinov2": (28, "cls"),
    "vit_small_patch16_dinov3": (48, "cls"),
    "vit_base_patch32_siglip_256": (64, "map"),
    "vit_pe_core_tiny_patch16_384": (48, "map"),
}


@needs_timm
@pytest.mark.parametrize("name", RESIZED)
def test_networks_of_one_size_take_others_and_pool_as_their_authors_do(name):
    import timm

    side, pooling = RESIZED[name]
    torch.manual_seed(0)
    backbone = make_backbone(BackboneSettings(name=f"timm:{name}"), image_size=side).eval()
    assert backbone.pooling == pooling
    images = torch.randint(256, (2, 3, side, side)).byte()
    torch.manual_seed(0)
    model = timm.create_model(name, num_classes=0).eval()
    model.set_input_size(img_size=side)
    inputs = normalize(images / 255.0, model.pretrained_cfg["mean"], model.pretrained_cfg["std"])
    with torch.no_grad():
        tokens = model.forward_features(inputs)
        expected = tokens[:, 0] if pooling == "cls" else model(inputs)
        torch.testing.assert_close(backbone(images), expected, atol=1e-4, rtol=1e-3)
    with pytest.raises(TrialInputError, match=f"multiples of .*, but got {side + 1} x {side + 1}"):
        make_backbone(BackboneSettings(name=f"timm:{name}"), image_size=side + 1)


@needs_timm
def test_a_name_says_how_tokens_are_pooled():
    name = "timm:vit_small_patch16_dinov3/{}"
    images = torch.randint(256, (2, 3, 48, 48)).byte()
    found = {}
    for pooling in ("cls", "patch_mean", "cls_and_mean"):
        torch.manual_seed(0)
        settings = BackboneSettings(name=name.format(pooling))
        backbone = make_backbone(settings, image_size=48).eval()
        with torch.no_grad():
            found[pooling] = backbone(images)
        assert found[pooling].shape == (2, backbone.num_features)
    both = torch.cat([found["cls"], found["patch_mean"]], dim=1)
    torch.testing.assert_close(found["cls_and_mean"], both)
    with pytest.raises(TrialInputError, match="does not pool by map; known: patch_mean, cls"):
        make_backbone(BackboneSettings(name=name.format("map")), image_size=48)
    with pytest.raises(TrialInputError, match="does not pool by cls; known: average"):
        make_backbone(BackboneSettings(name="timm:resnet18/cls"))


@needs_timm
def test_a_table_says_of_networks_what_they_are():
    facts = timm_facts("timm:vit_small_patch16_dinov3.lvd1689m/patch_mean")
    assert (facts.features, facts.side, facts.multiple, facts.prefix_tokens) == (384, 256, 16, 5)
    assert facts.licence == "dinov3-license"
    assert facts.size_problem("it", 224) is None
    assert "multiples of 16, but got 225 x 225" in facts.size_problem("it", 225)
    assert timm_facts("timm:resnet18.nobodys") is None
    assert timm_facts("resnet18") is None
    assert len(timm_networks()) >= 60
    from docs.make.timm_networks import facts_of  # which needs timm

    for name in ("mobilenetv3_small_100.lamb_in1k", "vit_small_patch32_224.augreg_in21k"):
        assert timm_networks()[name] == facts_of(name)  # the table is as its command makes it
