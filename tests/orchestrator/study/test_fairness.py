"""What differs between the losses of a study: all that is planted is found, and nothing else."""

from dataclasses import replace

import pytest

from podium.orchestrator.study.fairness import DECLARABLE, LOSS_PROPERTIES, fairness
from podium.orchestrator.study.loss_facts import facts_of
from podium.search_spaces.training_parameters import PROXY_PARAMETERS, TRAINING_SPACES
from podium.trainables.recipes import RECIPES
from podium.trainables.settings.training_settings import TRAINING_TYPES
from tests.orchestrator.study.compared_losses import (
    ALIKE,
    HEAD,
    differences,
    sides,
    study_of_losses,
)
from tests.orchestrator.study_files import load


def test_losses_that_are_alike_share_everything(tmp_path):
    record = fairness(study_of_losses(tmp_path, *ALIKE))
    assert record.disparities == ()
    assert record.equal["searches"] == "20 trials by tpe, early stopping asha, one seed"
    assert record.settings["batch_size"] == "32"
    assert record.settings["learning_rate"] == (
        "searched from 0.0001 to 0.03 (logarithmic), first 0.001"
    )
    assert not record.settings.keys() & set(PROXY_PARAMETERS)  # which mean nothing to them
    assert record.settings.keys() <= TRAINING_TYPES.keys()


VALUES = {
    "learning_rate": 0.002,
    "head_learning_rate_factor": 10.0,
    "proxy_learning_rate": 0.5,
    "weight_decay": 0.01,
    "proxy_weight_decay": 0.001,
    "step_factor": 0.5,
    "warm_up_epochs": 2,
}


def test_every_value_that_a_loss_may_set_of_training_is_planted_below():
    assert VALUES.keys() == TRAINING_SPACES.keys()


@pytest.mark.parametrize("name", VALUES)
def test_a_value_of_one_loss_is_a_difference_and_the_only_one(tmp_path, name):
    planted = f"{{loss: proxy_anchor, values: {{{name}: {VALUES[name]}}}}}"
    text = (
        f"{HEAD}[{planted}, soft_triple, arcface]\nsearch: {{tune: [], space: joint}}\n"
        f"training: {{step_epochs: 3}}\ndeclared_differences: {{{name}: so published}}"
    )
    found = differences(load(tmp_path, text))
    assert {it for it in found if it in TRAINING_TYPES} == {name}
    item = found[name]
    assert (item.standing, item.reason, item.area) == ("declared", "so published", "training")
    assert item.separates("proxy_anchor", "soft_triple")
    assert item.separates("proxy_anchor", "arcface")
    assert not item.separates("soft_triple", "arcface")
    assert item.blocks == ()


def test_a_value_that_is_tuned_is_reported_with_its_range(tmp_path):
    study = study_of_losses(
        tmp_path,
        "{loss: contrastive, values: {learning_rate: 0.01}}",
        more="declared_differences: {learning_rate: so published}",
    )
    assert sides(differences(study)["learning_rate"]) == {
        "searched from 0.001 to 0.3 (logarithmic), first 0.01": ("contrastive",),
        "searched from 0.0001 to 0.03 (logarithmic), first 0.001": ("lifted_structure",),
    }


@pytest.mark.parametrize(
    ("space", "text"),
    [
        ("{low: 0.1, high: 0.2}", "searched from 0.1 to 0.2, first 0.001"),
        ("{low: 0.1, high: 0.5, step: 0.1}", "searched from 0.1 to 0.5 in steps of 0.1, first "),
        ("[0.1, 0.25]", "searched among 0.1, 0.25, first 0.001"),
    ],
)
def test_a_setting_that_one_loss_alone_searches_is_a_difference(tmp_path, space, text):
    first = f"{{loss: contrastive, space: {{learning_rate: {space}}}}}"
    declared = "declared_differences: {learning_rate: to see}"
    found = differences(study_of_losses(tmp_path, first, more=f"search: {{tune: []}}\n{declared}"))
    one, other = found["learning_rate"].sides
    assert one.value.startswith(text)
    assert other.value == "0.001"


def test_the_same_value_for_all_is_no_difference(tmp_path):
    first, second = (f"{{loss: {loss}, values: {{weight_decay: 0.01}}}}" for loss in ALIKE)
    record = fairness(study_of_losses(tmp_path, first, second))
    assert record.disparities == ()
    assert record.settings["weight_decay"] == "0.01"


def test_what_the_recipe_gives_single_losses_is_reported_with_its_reason(tmp_path):
    record = fairness(
        study_of_losses(tmp_path, "contrastive", "arcface", "training: {recipe: psomas2020}")
    )
    assert "sampler" not in record.settings
    found = {item.name: item for item in record.disparities}
    sampler = found["sampler"]
    assert sides(sampler) == {"balanced": ("contrastive",), "random": ("arcface",)}
    assert sampler.standing == "recipe"
    assert sampler.reason == RECIPES["psomas2020"].reasons["sampler"]
    assert "samples_per_class" not in found  # which random batches have none of
    assert "proxy_learning_rate" not in found  # which contrastive does not use


def test_what_the_study_file_does_is_not_excused_by_the_recipes_reason(tmp_path):
    first = "{loss: proxy_anchor, values: {proxy_learning_rate: 0.5}}"
    declared = "declared_differences: {proxy_learning_rate: b}"
    study = study_of_losses(
        tmp_path, first, "arcface", f"training: {{recipe: psomas2020}}\n{declared}"
    )
    item = differences(replace(study, declared_differences={}))["proxy_learning_rate"]
    assert (item.standing, item.reason) == ("undeclared", "")


def test_a_difference_in_some_blocks_names_them(tmp_path):
    text = (
        "study: x\ndatasets: [cub200, sop]\nbackbones: [resnet50]\nembedding_dims: [64, 128]\n"
        "losses: [proxy_anchor, proxy_nca]\ntraining: {recipe: psomas2020}"
    )
    items = [
        item
        for item in fairness(load(tmp_path, text)).disparities
        if item.name == "proxy_learning_rate"
    ]
    assert [(sorted(sides(item)), item.blocks) for item in items] == [
        (["0.01", "1e-05"], ("cub200/resnet50/64/224px", "cub200/resnet50/128/224px")),
        (["0.06", "1e-05"], ("sop/resnet50/64/224px", "sop/resnet50/128/224px")),
    ]


OF_LOSSES = {
    "own_parameters": "proxy_anchor",
    "embeddings": "n_pair",
    "memory": "memory:contrastive",
    "pretraining": "softmax>contrastive",
    "views_of_an_image": "statistical",
}


@pytest.mark.parametrize("name", OF_LOSSES)
def test_what_a_loss_is_by_itself_is_noted(tmp_path, name):
    item = differences(study_of_losses(tmp_path, f"'{OF_LOSSES[name]}'"))[name]
    assert (item.area, item.standing) == ("loss", "noted")
    assert len(item.sides) == 2


def test_what_losses_read_besides_the_images_is_known_of_each():
    needing = {"class_names": "language_guidance", "label_distances": "log_ratio"}
    assert OF_LOSSES.keys() | needing == LOSS_PROPERTIES.keys()
    for name, loss in needing.items():
        trait, _, _ = LOSS_PROPERTIES[name]
        assert trait in facts_of(loss).needs
        assert trait not in facts_of("contrastive").needs


def test_protocols_differ_in_what_a_config_costs_and_what_its_search_sees(tmp_path):
    text = (
        f"{HEAD}[contrastive]\n"
        "protocol: [{kind: fixed}, {kind: fixed, name: half, val_fraction: 0.5}, "
        "{kind: kfold, folds: 5}, {kind: test_tuned}]\n"
    )
    record = fairness(load(tmp_path, text))
    assert {item.name: sides(item) for item in record.disparities} == {
        "trainings_of_a_config": {"1": ("fixed", "half", "test_tuned"), "5": ("kfold",)},
        "search_sees_test_classes": {"no": ("fixed", "half", "kfold"), "yes": ("test_tuned",)},
    }
    assert record.equal["validation under fixed and half"] == "the same split"
    assert record.equal["validation under kfold"] == "the same 5 folds"
    assert (
        record.equal["validation under test_tuned"]
        == "the test classes: a leak, kept to compare with"
    )


def test_settings_come_first_and_everything_can_be_declared(tmp_path):
    more = "training: {recipe: psomas2020}"
    study = study_of_losses(tmp_path, "contrastive, margin", "arcface, soft_triple, n_pair", more)
    names = [item.name for item in fairness(study).disparities]
    assert names == sorted(names, key=DECLARABLE.index)
    assert names[:2] == ["sampler", "proxy_learning_rate"]
