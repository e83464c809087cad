"""What searches of losses know and cover, and how many configs they can try.

These are counted against searches that draw until there is nothing new.
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
from podium.orchestrator.study.fairness import fairness, num_tried_configs, report_differences
from tests.orchestrator.study.compared_losses import (
    ALIKE,
    differences,
    sides,
    study_of_losses,
)
from tests.orchestrator.study_files import load

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
        "Not equal between the losses: warm_start (declared in the study file). See podium plan "
        "for details."
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
