"""Backbones, their weights, and image sizes in a study file."""

import pytest

from podium.orchestrator.study.blocks import blocks, searches
from tests.orchestrator.study_files import assert_matches, cases, load, problems_of

REFUSED = """
[resnet50, {name: resnet50, weights: random}] -> backbones[1] is in the list already: .*
[{weights: random}] -> backbones[0].name must be given
[{name: resnet50, weights: IMAGENET1K_V9}] -> unknown weights 'IMAGENET1K_V9' of resnet50.*
[{name: conv_small, weights: imagenet}] -> conv_small has no imagenet weights .*
[bn_inception] -> bn_inception has no imagenet weights to download; .*
[resnet51] -> unknown backbone 'resnet51' (did you mean 'resnet50'.*
['a b:c'] -> a backbone is a name, an import path .*
"""
CUB = "study: x\nlosses: [proxy_anchor]\ndatasets: [cub200]\n"
GLYPHS = "study: x\nlosses: [proxy_anchor]\n"


STARTS = """
conv_small -> random
resnet50 -> imagenet
{name: resnet50, weights: random} -> random
{name: resnet50, weights: IMAGENET1K_V2} -> IMAGENET1K_V2
{name: bn_inception, weights: /nowhere/bn.pth} -> /nowhere/bn.pth
my.networks:Net -> random
"""


@pytest.mark.parametrize(("backbone", "weights"), cases(STARTS))
def test_a_backbone_starts_from_what_is_published_unless_the_study_says_otherwise(
    tmp_path, backbone, weights
):
    (found,) = load(tmp_path, f"{CUB}backbones: [{backbone}]").backbones
    assert found.weights == weights


@pytest.mark.parametrize(("backbones", "problem"), cases(REFUSED))
def test_backbones_are_known_different_and_have_weights(tmp_path, backbones, problem):
    assert_matches(problems_of(tmp_path, f"{CUB}backbones: {backbones}"), [f"s.yaml:4: {problem}"])


def test_image_sizes_are_a_factor_of_the_blocks(tmp_path):
    text = f"{CUB}backbones: [resnet50]\nembedding_dims: [64, 512]\nimage_sizes: [224, 256]\n"
    study = load(tmp_path, text)
    assert [block.label for block in blocks(study)] == [
        "cub200/resnet50/64/224px",
        "cub200/resnet50/64/256px",
        "cub200/resnet50/512/224px",
        "cub200/resnet50/512/256px",
    ]
    assert searches(study)[0].id == "cub200.resnet50.64.224px.proxy_anchor.fixed.0"


def test_image_files_get_the_size_of_the_recipe(tmp_path):
    with_backbone = f"{CUB}backbones: [resnet50]\n"
    assert load(tmp_path, with_backbone).image_sizes == (224,)
    assert load(tmp_path, f"{with_backbone}\nimage_sizes: []").image_sizes == (224,)
    other = load(tmp_path, f"{with_backbone}training: {{recipe: reality_check}}")
    assert other.image_sizes == (227,)


# Of each head and lines after it, which a bar divides here.
MISFITS = """
glyphs -> image_sizes: [224] -> 3: image_sizes are for data sets of image files; .*; got [224]
cub200 -> image_sizes: [224, 250] -> 4: conv_small takes images whose sides are multiples of 32, .*
cub200 -> training: {recipe: fast, augmentation: none} -> .* image_sizes must be given: cub200 .*
glyphs -> training: {augmentation: random_resized_crop} -> 3: augmentation .* glyphs: .*
glyphs -> backbones: [conv_small, mlp] -> 3: mlp takes vectors, but glyphs has images
"""


@pytest.mark.parametrize(("head", "lines", "problem"), cases(MISFITS))
def test_sizes_augmentation_and_networks_go_with_the_images(tmp_path, head, lines, problem):
    text = {"glyphs": GLYPHS, "cub200": CUB}[head] + lines.replace(" | ", "\n")
    assert_matches(problems_of(tmp_path, text), [f"s.yaml:{problem}"])
