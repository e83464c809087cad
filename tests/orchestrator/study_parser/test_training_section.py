"""The training of a study: a recipe by block, what the study changes about it, and what it may."""

import pytest

from podium.orchestrator.study.blocks import blocks
from podium.orchestrator.study.configs import (
    default_config,
    hyperparameter_types,
    loss_training,
    space_of,
    training_of,
)
from tests.orchestrator.study_files import assert_matches, cases, load, problems_of

HEAD = "study: x\nlosses: [contrastive, proxy_anchor]\n"
REFUSED = """
{compile: 1} -> training.compile must be true or false; got 1
{clip_value: much} -> training.clip_value must be in [0, 1e+06]; got "much"
{precision: bf61} -> training.precision must be one of .*; got "bf61"; did you mean bf16? .*
{sampler: bananas, samples_per_class: 2} -> training.sampler must be one of .*; got "bananas"; .*
"""
UNUSED = """
pooling: max -> conv_small has no map of features to pool
cache: none -> the images of glyphs have a size of their own
step_factor: 0.5 -> step_epochs is 0, so learning rates stay constant
mode: frozen_features, batch_norm: frozen -> the backbone is frozen
epochs: 4, step_epochs: 4 -> training ends after 4 epochs
"""


def trainings(study):
    return {block.label: training_of(study, block) for block in blocks(study)}


@pytest.mark.parametrize(
    ("datasets", "recipe"),
    [("[glyphs]", "fast"), ("[cub200]", "psomas2020"), ("[glyphs, cub200]", "psomas2020")],
)
def test_the_recipe_suits_the_images_unless_one_is_given(tmp_path, datasets, recipe):
    assert load(tmp_path, f"{HEAD}datasets: {datasets}\n").training.recipe == recipe


def test_a_search_starts_from_what_the_recipe_gives_its_loss(tmp_path):
    text = "study: x\ndatasets: [cub200]\nbackbones: [resnet50]\nlosses: [arcface, n_pair]\n"
    study = load(tmp_path, text)
    (block,) = blocks(study)
    config = default_config(study, block, "arcface")
    assert (config["scale"], config["proxy_learning_rate"]) == (64.0, 1e-4)
    assert config["sampler"] == "random"
    assert loss_training(study, block, "arcface").sampler == "random"
    assert loss_training(study, block, "n_pair").sampler == "balanced"
    assert default_config(study, block, "n_pair")["norm_weight"] == 0.02
    assert hyperparameter_types(study)["sampler"] == "str"


def test_what_the_study_says_goes_before_what_the_recipe_gives_a_loss(tmp_path):
    text = (
        "study: x\ndatasets: [cub200]\nbackbones: [resnet50]\n"
        "losses: [{loss: arcface, values: {scale: 30, proxy_learning_rate: 0.5}}, proxy_nca]\n"
        "training: {proxy_learning_rate: 0.25, sampler: balanced}\n"
        "declared_differences: {proxy_learning_rate: the rate of its paper}\n"
    )
    study = load(tmp_path, text)
    (block,) = blocks(study)
    config = default_config(study, block, "arcface")
    assert (config["scale"], config["proxy_learning_rate"]) == (30.0, 0.5)
    assert "sampler" not in config
    assert "proxy_learning_rate" not in default_config(study, block, "proxy_nca")
    assert loss_training(study, block, "proxy_nca").proxy_learning_rate == 0.25
    assert loss_training(study, block, "proxy_nca").sampler == "balanced"


@pytest.mark.parametrize(("training", "problem"), cases(REFUSED))
def test_every_setting_is_checked(tmp_path, training, problem):
    found = problems_of(tmp_path, f"{HEAD}training: {training}")
    assert_matches(found, [f"s.yaml:3: {problem}"])


@pytest.mark.parametrize(("setting", "reason"), cases(UNUSED))
def test_a_setting_that_no_block_uses_is_refused(tmp_path, setting, reason):
    name = setting.split(", ")[-1].split(":")[0]
    found = problems_of(tmp_path, f"{HEAD}training: {{{setting}}}")
    assert_matches(found, [f"s.yaml:3: training.{name} changes nothing: {reason}; got .*"])


def test_the_rate_of_proxies_joins_no_search_of_a_loss_that_trains_none(tmp_path):
    text = "study: x\nlosses: [{loss: margin, values: {learn_beta: %s}}, proxy_anchor]\n"
    tune = "search: {tune: [proxy_learning_rate]}"
    for flag, is_searched in (("true", True), ("false", False)):
        study = load(tmp_path, text % flag + tune)
        config = default_config(study, blocks(study)[0], "margin")
        assert ("proxy_learning_rate" in space_of(study, "margin").parameters) is is_searched
        assert ("proxy_learning_rate" in config) is is_searched


def test_a_setting_that_one_block_uses_is_accepted(tmp_path):
    text = f"{HEAD}datasets: [glyphs, cub200]\nbackbones: [conv_small, resnet50]\n"
    settings = {"pooling": "max", "cache": "none", "crop_scale_min": 0.2}
    inner = ", ".join(f"{name}: {value}" for name, value in settings.items())
    study = load(tmp_path, f"{text}training: {{recipe: psomas2020, {inner}}}")
    assert study.training.overrides == settings


def test_a_loss_may_take_one_of_its_spaces_by_name(tmp_path):
    text = "study: x\nlosses: [contrastive, {loss: proxy_anchor, space: psomas2020}]\n"
    study = load(tmp_path, text + "search: {tune: [weight_decay]}")
    parameters = space_of(study, "proxy_anchor").parameters
    assert set(parameters) == {"alpha", "margin", "weight_decay"}
    assert parameters["alpha"].step == 2.0
    assert study.loss("contrastive").space is None
