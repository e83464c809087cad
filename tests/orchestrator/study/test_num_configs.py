"""How many configs a search can try, against searches that draw until there is nothing new."""

import json

import pytest

from orchestrator.run.resume_study import suggester_of
from orchestrator.study.blocks import blocks, searches
from orchestrator.study.configs import default_config, given_configs
from orchestrator.study.fairness import fairness
from orchestrator.study.fairness_of_losses import num_tried_configs
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
    "two, and known ones": (
        "{loss: multi_similarity, space: {alpha: [1, 2], beta: [40, 50]}, "
        "try_first: [{alpha: 1}, {alpha: 4, beta: 60}]}"
    ),
    "a range": "{loss: contrastive, space: {margin: {low: 0.1, high: 0.5}}}",
}


def study_of(folder, loss, sampler, trials):
    text = (
        f"study: x\ndatasets: [glyphs]\nlosses: [{loss}]\n"
        f"search: {{tune: [], sampler: {sampler}, trials: {trials}}}\n"
    )
    return load(folder, text)


def drawn(study):
    """Distinct configs of a search whose every trial ends well, drawn one after the other."""
    (search,) = searches(study)
    suggester = suggester_of(study, search)
    block, loss = search.block, search.loss
    first = [default_config(study, block, loss), *given_configs(study, block, loss)]
    found = set()
    for index in range(DRAWS):
        if index < len(first):
            config = first[index]
            suggester.set_suggestion(index, config)
        elif suggester.is_exhausted:
            break
        else:
            config = suggester.suggest(index)
        suggester.tell(index, "COMPLETE", 1 - 1 / (2 + index))
        found.add(json.dumps(config, sort_keys=True))
        if len(found) == study.search.trials:
            break
    return len(found)


@pytest.mark.parametrize("trials", [9, 40])
@pytest.mark.parametrize("sampler", ["random", "grid", "coordinate"])
@pytest.mark.parametrize("space", SPACES)
def test_as_many_are_counted_as_a_search_comes_to(tmp_path, space, sampler, trials):
    study = study_of(tmp_path, SPACES[space], sampler, trials)
    (block,) = blocks(study)
    assert num_tried_configs(study, block, study.losses[0]) == drawn(study)


def test_a_space_of_many_points_fills_every_budget(tmp_path):
    loss = "{loss: fast_ap, space: {bins: {low: 1, high: 1000}, weight_decay: [0.1, 0.2]}}"
    study = study_of(tmp_path, loss, "tpe", 30)
    assert num_tried_configs(study, blocks(study)[0], "fast_ap") == 30


def test_a_loss_with_fewer_configs_than_its_budget_is_told(tmp_path):
    small = "{loss: fast_ap, space: {bins: [5, 10, 20]}}"
    told = fairness(study_of(tmp_path, f"contrastive, lifted_structure, {small}", "tpe", 20))
    (item,) = told.disparities
    assert (item.name, item.area, item.standing) == ("tried_configs", "space", "noted")
    assert [(side.value, side.competitors) for side in item.sides] == [
        ("20", ("contrastive", "lifted_structure")),
        ("3", ("fast_ap",)),
    ]
