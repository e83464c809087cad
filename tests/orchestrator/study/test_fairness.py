"""What differs between the losses of a study: all that is planted is found, and nothing else.

What searches know and cover is counted against searches that draw until there is nothing new.
"""

import json
from dataclasses import replace
from itertools import product

import pytest

from podium.errors import StudyError
from podium.orchestrator.run.resume_study import suggester_of
from podium.orchestrator.search_samplers.suggester import Outcome
from podium.orchestrator.study.blocks import blocks, searches
from podium.orchestrator.study.configs import first_configs
from podium.orchestrator.study.fairness import (
    fairness,
    num_tried_configs,
    report_differences,
)
from podium.search_spaces.training_parameters import PROXY_PARAMETERS, TRAINING_SPACES
from podium.trainables.recipes import RECIPES
from podium.trainables.settings.training_settings import TRAINING_TYPES
from tests.orchestrator.study_files import load

# Two losses that differ in nothing but their formulas: pairs, one hyperparameter each, no proxies.
ALIKE = ("contrastive", "lifted_structure")
HEAD = "study: x\ndatasets: [glyphs]\nlosses: "


def study_of_losses(folder, first, second="lifted_structure", more=""):
    """A study of two entries of ``losses``, with ``more`` lines."""
    return load(folder, f"{HEAD}[{first}, {second}]\n{more}")


def differences(study):
    """Name -> disparity, of all that differs between the losses."""
    return {item.name: item for item in fairness(study).disparities}


def sides(item):
    """Value -> losses that have it."""
    return {side.value: side.competitors for side in item.sides}


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


@pytest.mark.parametrize("name", TRAINING_SPACES)
def test_a_value_of_one_loss_is_a_difference_and_the_only_one(tmp_path, name):
    planted = f"{{loss: proxy_anchor, values: {{{name}: {TRAINING_SPACES[name].high}}}}}"
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
    "retrieved_by": "nt_xent_poincare",
}


@pytest.mark.parametrize("name", OF_LOSSES)
def test_what_a_loss_is_by_itself_is_noted(tmp_path, name):
    item = differences(study_of_losses(tmp_path, f"'{OF_LOSSES[name]}'"))[name]
    assert (item.area, item.standing) == ("loss", "noted")
    assert len(item.sides) == 2


DRAWS = 600  # enough for chance to come by all of at most a dozen or two configs

SPACES = {
    "a list": "{loss: contrastive, space: {margin: [0.1, 0.2, 0.5]}}",
    "a list without the default": "{loss: contrastive, space: {margin: [0.1, 0.2]}}",
    "steps": "{loss: contrastive, space: {margin: {low: 0.1, high: 0.5, step: 0.1}}}",
    "whole numbers": "{loss: fast_ap, space: {bins: {low: 5, high: 9}}}",
    "whole numbers, logarithmic": "{loss: fast_ap, space: {bins: {low: 5, high: 9, log: true}}}",
    "one that depends on another": (
        "{loss: soft_triple, space: {centres: [1, 2, 3], tau: [0.1, 0.2]}}"
    ),
    "two": ("{loss: multi_similarity, space: {alpha: [1, 2], beta: [40, 50]}}"),
    "a range": "{loss: contrastive, space: {margin: {low: 0.1, high: 0.5}}}",
}


def test_the_numbers_of_searched_hyperparameters_are_reported(tmp_path):
    study = study_of_losses(tmp_path, "multi_similarity", "contrastive, lifted_structure")
    item = differences(study)["searched_hyperparameters"]
    assert [(side.value, side.competitors) for side in item.sides] == [
        ("2", ALIKE),
        ("5", ("multi_similarity",)),
    ]
    assert item.standing == "noted"


@pytest.mark.parametrize(
    ("first", "more", "value"),
    [
        ("{loss: contrastive, values: {margin: 0.9}}", "", "the study's values"),
        ("margin", "training: {recipe: psomas2020}", "the recipe's values"),
        (
            "{loss: margin, values: {margin: 0.3}}",
            "training: {recipe: psomas2020}",
            "the study's ",
        ),
    ],
)
def test_a_first_config_that_is_not_published_is_reported(tmp_path, first, more, value):
    item = differences(study_of_losses(tmp_path, first, "fast_ap", more))["first_config"]
    one, other = item.sides
    assert one.value.startswith(value)
    assert (other.value, other.competitors) == ("published defaults", ("fast_ap",))
    assert item.standing == "noted"


def test_what_earlier_results_give_to_some_losses_is_a_difference_in_those_blocks(tmp_path):
    study = study_of_losses(tmp_path, *ALIKE, "embedding_dims: [16, 32]")
    one, other = ((f"glyphs/conv_small/{dim} {loss}" for loss in ALIKE) for dim in (16, 32))
    both = {key: ({"margin": 0.3},) for key in one}
    assert fairness(replace(study, warm_starts=both)).disparities == ()
    cold, warm = other
    uneven = replace(study, warm_starts={**both, warm: ({"margin": 0.3},), cold: ()})
    item = differences(uneven)["warm_start"]
    assert sides(item) == {"0 configs": ("contrastive",), "1 config": ("lifted_structure",)}
    assert (item.blocks, item.standing) == (("glyphs/conv_small/32",), "undeclared")
    with pytest.raises(StudyError, match=r"differ in warm_start .*in glyphs/conv_small/32.*line"):
        report_differences(uneven, print)
    said = []
    declared = {"warm_start": "a new loss"}
    report_differences(replace(uneven, declared_differences=declared), said.append)
    assert said == [
        "Not equal between the losses: warm_start (declared in the study file). See Fairness "
        "in the report."
    ]


def study_of_search(folder, loss, sampler, trials):
    text = (
        f"study: x\ndatasets: [glyphs]\nlosses: [{loss}]\n"
        f"search: {{tune: [], sampler: {sampler}, trials: {trials}}}\n"
    )
    return load(folder, text)


def num_drawn_configs(study):
    """Distinct configs of a search whose every trial ends well, drawn one after the other."""
    (search,) = searches(study)
    suggester = suggester_of(study, search)
    block, loss = search.block, search.loss
    first = first_configs(study, block, loss)
    found = set()
    for index in range(DRAWS):
        if index < len(first):
            config = first[index]
            suggester.set_suggestion(index, config)
        elif suggester.is_exhausted:
            break
        else:
            config = suggester.suggest(index)
        suggester.tell(index, Outcome("COMPLETE", 1 - 1 / (2 + index)))
        found.add(json.dumps(config, sort_keys=True))
        if len(found) == study.search.trials:
            break
    return len(found)


@pytest.mark.parametrize(
    ("space", "sampler", "trials"),
    [
        *product(SPACES, ["random"], [9, 40]),
        *product([name for name in SPACES if name != "a range"], ["grid", "coordinate"], [40]),
    ],
)
def test_as_many_are_counted_as_a_search_comes_to(tmp_path, space, sampler, trials):
    study = study_of_search(tmp_path, SPACES[space], sampler, trials)
    (block,) = blocks(study)
    assert num_tried_configs(study, block, study.loss_names[0]) == num_drawn_configs(study)


def test_a_loss_with_fewer_configs_than_its_budget_is_reported(tmp_path):
    small = "{loss: fast_ap, space: {bins: [5, 10, 20]}}"
    record = fairness(
        study_of_search(tmp_path, f"contrastive, lifted_structure, {small}", "tpe", 20)
    )
    (item,) = record.disparities
    assert (item.name, item.area, item.standing) == ("tried_configs", "space", "noted")
    assert [(side.value, side.competitors) for side in item.sides] == [
        ("20", ("contrastive", "lifted_structure")),
        ("3", ("fast_ap",)),
    ]
