"""What a study file says of samplers and warm starts."""

import pytest
import yaml

from podium.orchestrator.search_samplers.sampler_names import SAMPLERS
from podium.orchestrator.study.resolved_study import resolved_dict, study_from_resolved
from podium.orchestrator.study.study import EarlyStopping
from podium.orchestrator.study.study_changes import forbidden_changes
from tests.orchestrator.study_files import assert_matches, cases, load, problems_of

HEAD = "study: x\nlosses: [contrastive]\n"
REFUSED = r"""
{sampler: gp, shared_configs: true, repeats: 2} -> search.shared_configs needs .*; got "gp"
{sampler: grid, trials: 4} -> search.sampler grid needs lists .* contrastive has a range without
{trials: 3, warm_start: {from: earlier}} -> search.trials must be at least 4: .*
{epochs: 0} -> search.epochs must be .*
{epochs: 100} -> search.epochs must be at most training.epochs, which is \d+; got 100
{population: on} -> search.population must be .*
{population: many} -> search.population must be .*
{warm_start: {top: 3}} -> search.warm_start.from must be given
{warm_start: a} -> search.warm_start must be a mapping; got "a"
"""
STEPS = """study: x
losses:
  - loss: proxy_anchor
    space: {alpha: {low: 8, high: 40, step: 8}, margin: [0.1, 0.2, 0.3]}
search: {sampler: grid, tune: [], trials: %s}
"""


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_every_sampler_can_be_named(tmp_path, sampler):
    text = HEAD + f"search: {{sampler: {sampler}, trials: 30}}\n"
    if sampler in ("grid", "coordinate"):
        text = (STEPS % 30).replace("grid", sampler)
    study = load(tmp_path, text)
    assert study.search.sampler == sampler


# An automatic one leaves a sampler batches to learn from. Heads are trained together unless the
# study says otherwise.
POPULATIONS = """
search: {population: off} -> 1
search: {population: auto} -> 5
search: {population: 7} -> 7
search: {population: auto, trials: 50} -> 12
search: {population: auto, trials: 1000} -> 64
search: {population: auto, trials: 50, sampler: random} -> 50
search: {population: auto, trials: 100, sampler: qmc} -> 64
seed: 0 -> 1
training: {mode: frozen_features} -> 5
training: {mode: frozen_features} | search: {population: off} -> 1
"""


@pytest.mark.parametrize(("text", "members"), cases(POPULATIONS))
def test_a_population_is_off_auto_or_a_number(tmp_path, text, members):
    study = load(tmp_path, HEAD + text.replace(" | ", "\n"))
    assert study.search.population == int(members)
    assert study_from_resolved(resolved_dict(study)) == study


def test_the_size_of_populations_may_change_between_runs(tmp_path):
    old = resolved_dict(load(tmp_path, HEAD))
    new = resolved_dict(load(tmp_path, HEAD + "search: {population: 8}\n"))
    assert "population" not in old["search"]
    assert not forbidden_changes(old, new)


def test_epochs_of_searches_are_in_the_snapshot_and_stay_as_they_are(tmp_path):
    usual = resolved_dict(load(tmp_path, HEAD))
    short = resolved_dict(load(tmp_path, HEAD + "search: {epochs: 2}\n"))
    assert usual["search"]["epochs"] is None
    assert study_from_resolved(short).search.epochs == 2
    assert forbidden_changes(usual, short) == ["search.epochs: null -> 2"]


@pytest.mark.parametrize(("search", "message"), cases(REFUSED))
def test_what_does_not_go_together_is_refused(tmp_path, search, message):
    assert_matches(problems_of(tmp_path, f"{HEAD}search: {search}\n"), [f"s.yaml:3: {message}"])


def test_a_grid_of_steps_says_how_many_trials_it_needs(tmp_path):
    # 5 x 3 points; the default, alpha 32 with margin 0.1, is one of them.
    assert load(tmp_path, STEPS % 15).search.trials == 15
    (message,) = problems_of(tmp_path, STEPS % 14)
    expected = (
        "search.trials must be at least 15 for all values of proxy_anchor and its default by grid"
    )
    assert expected in message
    # One at a time: 5 + 3 values, of which the default has two, and the best of both together.
    swept = STEPS.replace("grid", "coordinate")
    assert load(tmp_path, swept % 8).search.trials == 8
    (message,) = problems_of(tmp_path, swept % 7)
    assert "search.trials must be at least 8 for all values of proxy_anchor" in message


@pytest.fixture
def study(tmp_path):
    return load(tmp_path, HEAD + "search: {warm_start: {from: a, top: 2}}\n")


def test_all_of_it_comes_back_from_the_results_folder(study):
    values = yaml.safe_load(yaml.safe_dump(resolved_dict(study)))
    values["warm_starts"] = {"a/b/32 contrastive": [{"margin": 0.3}]}
    back = study_from_resolved(values)
    assert back.losses == study.losses
    assert back.search == study.search
    assert back.warm_starts["a/b/32 contrastive"] == ({"margin": 0.3},)
    assert resolved_dict(back) == values


def test_a_warm_start_stays_as_it_was_and_earlier_results_may_be_moved(study):
    old = {**resolved_dict(study), "warm_starts": {"a/b/32 contrastive": []}}

    def changed(**values):
        return forbidden_changes(old, {**old, **values})

    assert changed(warm_starts={"a/b/32 contrastive": [{"margin": 0.3}]})
    joining = {"a/b/32 contrastive": [], "a/b/32 triplet": [{"margin": 0.1}]}
    assert not changed(losses=[*study.loss_names, "triplet"], warm_starts=joining)
    moved, other = ({"folder": "/elsewhere", "top": top} for top in (2, 3))
    assert not changed(search={**old["search"], "warm_start": moved})
    assert changed(search={**old["search"], "warm_start": other})
    assert changed(search={**old["search"], "warm_start": None})


WRONG_STOPPING = r"""
ashe -> search.early_stopping.kind must be one of the choices; .*; did you mean asha? .*
[asha] -> search.early_stopping must be a mapping; got ["asha"]
{grace_epochs: 100} -> grace_epochs must be at most training.epochs, which is \d+; got 100
{grace_epochs: 3}, epochs: 2 -> grace_epochs must be at most search.epochs, which is 2; got 3
folds -> search.early_stopping folds needs a protocol of several folds, such as .*; got "fixed"
{kind: folds, grace_epochs: 2} -> unknown key .*; got "grace_epochs"; .*
{min_trials: 4} -> unknown key in search.early_stopping; got "min_trials"; .*
"""


@pytest.mark.parametrize(("rules", "problem"), cases(WRONG_STOPPING))
def test_what_is_wrong_with_early_stopping_is_said_with_its_line(tmp_path, rules, problem):
    text = f"{HEAD}search: {{early_stopping: {rules}}}"
    assert_matches(problems_of(tmp_path, text), [f"s.yaml:3: {problem}"])


def test_each_kind_of_early_stopping_has_numbers_of_its_own(tmp_path):
    text = HEAD + "protocol: {kind: kfold, folds: 3}\nsearch: {early_stopping: {kind: folds}}"
    study = load(tmp_path, text, "search.early_stopping.reduction_factor=2")
    assert study.search.early_stopping == EarlyStopping(kind="folds", reduction_factor=2)
