import re

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from podium.trainables.errors import TrialInputError
from podium.trainables.network.backbone_facts import backbone_facts, is_external
from podium.trainables.network.pretraining import pretraining_note
from podium.trainables.registry import load, names
from podium.trainables.settings.trial_settings import BackboneSettings
from tests.trainables.backbone_names import made

FIELDS = (
    *("has_map", "published_weights", "weights_note", "packages"),
    *("side_multiple", "min_side", "takes_features", "giga_multiply_adds"),
)


@pytest.mark.parametrize("name", names("backbones"))
def test_the_source_says_what_the_class_says(name):
    facts, loaded = backbone_facts(name), load("backbones", name)
    assert {field: getattr(facts, field) for field in FIELDS} == {
        field: getattr(loaded, field) for field in FIELDS
    }


@pytest.mark.parametrize(
    "name", [made(it) for it in names("backbones") if it not in ("mlp", "identity")]
)
def test_multiplications_are_those_that_torch_counts(name):
    with torch.device("meta"):  # counting needs no memory
        backbone = load("backbones", name)("random").eval()
        images_BCHW = torch.zeros(1, 3, 224, 224, dtype=torch.uint8)
        with FlopCounterMode(display=False) as counter:
            backbone(images_BCHW)
    counted = counter.get_total_flops() / 2 / 1e9  # a multiplication and an addition are two
    assert backbone_facts(name).giga_multiply_adds == pytest.approx(counted, rel=0.01)


def test_the_networks_of_the_field_are_there():
    assert set(names("backbones")) == {
        *("resnet18", "resnet50", "resnet101", "googlenet", "bn_inception"),
        *("mobilenet_v3_small", "mobilenet_v3_large", "efficientnet_b0"),
        *("efficientnet_lite0", "efficientnet_lite1", "efficientnet_lite2"),
        *("conv_small", "mlp", "identity"),
    }


@pytest.mark.parametrize("name", ["timm:resnet50.a1_in1k", "my_package.networks:Net", "nets:Net"])
def test_of_foreign_networks_nothing_is_known_before_the_run(name):
    assert is_external(name)
    assert backbone_facts(name) is None


@pytest.mark.parametrize("name", ["timm:", "timm:a b", "a:b:c", ":Net", "package.:Net", "1a:B"])
def test_a_name_of_no_legal_form_is_refused(name):
    with pytest.raises(TrialInputError, match=r"package\.module:Class, or timm:NAME; got"):
        backbone_facts(name)


def test_an_unknown_name_is_answered_with_near_ones():
    with pytest.raises(TrialInputError, match=r"unknown backbone 'resnet52' \(did you mean 'resn"):
        backbone_facts("resnet52")


@pytest.mark.parametrize(
    ("name", "size", "rule"),
    [
        ("conv_small", 48, "are multiples of 32"),
        ("bn_inception", 231, "are multiples of 32 or up to 6 pixels longer"),
        ("bn_inception", 6, "have at least 32 pixels"),
        ("googlenet", 14, "have at least 15 pixels"),
    ],
)
def test_sizes_a_network_does_not_take_are_reported(name, size, rule):
    problem = backbone_facts(name).size_problem(name, size)
    assert problem == f"{name} takes images whose sides {rule}, but got {size} x {size}"


@pytest.mark.parametrize(
    ("name", "weights", "expected"),
    [
        ("conv_small", "random", r"random weights"),
        (
            "resnet50",
            "imagenet",
            r"images seen in pretraining: cub200 yes \(its .*\), sop unknown",
        ),
        (
            "resnet50",
            "/data/imagenet/mine.pth",
            "images seen in pretraining: cub200 unknown, sop unknown",
        ),
        (
            "timm:vit_small_patch14_dinov2.lvd142m",
            "imagenet",
            r"pools by cls; weights: apache-2.0; images seen .*: cub200 yes \(.*2304.07193.*",
        ),
        (
            "timm:vit_small_patch16_dinov3.lvd1689m/patch_mean",
            "imagenet",
            "pools by patch_mean; weights: dinov3-license; images seen .*: cub200 unknown, .*",
        ),
        ("timm:resnet18.a1_in1k", "random", "pools by average; random weights"),
    ],
)
def test_what_pretraining_saw_is_said_with_its_source(name, weights, expected):
    backbone = BackboneSettings(name=name, weights=weights)
    assert re.fullmatch(expected, pretraining_note(backbone, ["sop", "cub200"]))
