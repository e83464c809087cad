"""Hours of a study by images, counted again trial by trial."""

import math
from dataclasses import replace

import pytest

from orchestrator.planning.image_cost import TOGETHER, Conditions, ImageCost
from orchestrator.planning.study_plan import plan
from orchestrator.study.blocks import blocks, searches
from orchestrator.study.study import EarlyStopping
from tests.orchestrator.study_files import load
from trainables.dataset_interface.class_splits import make_split
from trainables.settings.trial_settings import ProtocolSettings

TEXT = """
study: planned
datasets: [{name: glyphs, script: latin, classes: 100, instances_per_class: 6}]
embedding_dims: [16, 32]
losses: [contrastive, proxy_anchor]
protocol: {kind: fixed, val_fraction: 0.2}
search: {trials: 7, early_stopping: {kind: none}}
final: {seeds: 3, protocol: {kind: kfold, folds: 5}, train_on: [part, all]}
training: {epochs: 4}
"""

COST = ImageCost(
    conditions=Conditions(
        backbone="conv_small",
        side=32,
        mode="fine_tune",
        device="cpu",
        precision="float32",
        share=1.0,
    ),
    low=0.001,
    median=0.002,
    high=0.004,
    tested=0.01,
    trials=5,
    source="machine",
)


@pytest.fixture
def study(tmp_path):
    return load(tmp_path, TEXT)


def hours_of(study, cost=COST):
    return plan(study, known=(cost,)).budget.slot_hours


def images(protocol, fold):
    """Images of an epoch: trained ones, and a third of the validated."""
    split = make_split([f"class {number}" for number in range(50)], protocol, fold)
    return 6 * (len(split.train) + len(split.val) / 3)


def test_every_image_of_every_trial_is_counted(study):
    """The oracle: a loop over trials, folds and epochs."""
    folds = ProtocolSettings(kind="kfold", val_fraction=None, folds=5)
    refit = ProtocolSettings(kind="refit", val_fraction=None)
    searched = finals = tests = 0.0
    for _search in searches(study):
        for _trial in range(7):
            searched += sum(images(study.protocols[0], 0) for _ in range(4))
        for _finalist in range(2):
            for _seed in range(3):
                for fold in range(5):
                    finals += sum(images(folds, fold) for _ in range(4))
                    tests += 300
                finals += sum(images(refit, 0) for _ in range(4))
                tests += 300
    baselines = sum(6 * 10 / 3 * 0.002 + 300 * 0.01 for _ in blocks(study) for _ in range(15))
    hours = hours_of(study)
    seconds = searched * 0.002 + finals * 0.002 + tests * 0.01 + baselines
    assert hours.median == pytest.approx(seconds / 3600)
    of_finals = finals * 0.002 + tests * 0.01
    assert hours.finals == pytest.approx((of_finals + baselines) / 3600)
    # Of the same conditions, by earlier runs here: their spread, and 1.25 on top.
    factor = math.exp(math.hypot(math.log(2), math.log(1.25)))
    assert hours.high == pytest.approx(seconds * factor / 3600)
    assert hours.low == pytest.approx((seconds - of_finals / 2) / factor / 3600)


def test_early_stopping_lowers_the_low_end_alone(study):
    asha = replace(study, search=replace(study.search, early_stopping=EarlyStopping(kind="asha")))
    stopped, whole = hours_of(asha), hours_of(study)
    assert stopped.low < whole.low
    assert (stopped.median, stopped.high) == (whole.median, whole.high)
    folds = replace(
        study, search=replace(study.search, early_stopping=EarlyStopping(kind="folds"))
    )
    assert hours_of(folds) == whole  # of one fold there is none to be stopped after


def test_a_search_of_one_trial_is_not_stopped_and_its_finals_are_all_trained(study):
    one = replace(
        study, search=replace(study.search, trials=1, early_stopping=EarlyStopping(kind="asha"))
    )
    hours = hours_of(one, replace(COST, low=0.002, high=0.002))
    assert hours.low == pytest.approx(hours.median / 1.25)


def test_tests_of_searches_count_where_they_are_recorded(study):
    more = hours_of(replace(study, quarantine="record")).median - hours_of(study).median
    assert more == pytest.approx(4 * 7 * 300 * 0.01 / 3600)


def test_what_a_tested_image_costs_is_a_third_of_a_trained_one_where_it_is_not_known(study):
    unknown = hours_of(study, replace(COST, tested=None))
    assert unknown == hours_of(study, replace(COST, tested=0.002 / 3))


def test_features_of_a_frozen_network_are_computed_once_for_all_dimensions(study):
    training = replace(study.training, overrides={"epochs": 4, "mode": "frozen_features"})
    frozen = replace(study, training=training)
    head = replace(COST, conditions=replace(COST.conditions, mode="frozen_features"))
    alone = plan(frozen, known=(head,)).budget.slot_hours.median
    with_features = plan(frozen, known=(head, COST)).budget.slot_hours.median
    assert with_features - alone == pytest.approx(600 * 0.002 / 3 / 3600)
    assert plan(frozen, known=(COST,)).hours == ()


def test_hours_of_gpus_are_those_of_slots_times_their_share(study):
    resources = replace(study.resources, gpus_per_trial=0.25)
    on_gpu = replace(COST, conditions=replace(COST.conditions, device="gpu", share=0.25))
    budget = plan(replace(study, resources=resources), known=(on_gpu,)).budget
    assert budget.gpu_hours.median == pytest.approx(budget.slot_hours.median / 4)
    assert budget.slot_hours == hours_of(study)


HEADS = """
study: heads
datasets: [{name: glyphs, script: latin, classes: 100, instances_per_class: 6}]
losses: [chopra, contrastive]
search: {trials: 8, early_stopping: {kind: none}, population: 4}
training: {mode: frozen_features, epochs: 4}
"""


def test_searches_that_train_many_heads_at_once_cost_what_such_heads_cost(tmp_path):
    alone = replace(COST, conditions=replace(COST.conditions, mode="frozen_features"))
    together = replace(
        COST,
        conditions=replace(COST.conditions, mode=TOGETHER),
        low=0.0001,
        median=0.0002,
        high=0.0004,
    )
    study = load(tmp_path, HEADS)

    both = plan(study, known=(alone, together)).budget.slot_hours
    only_alone = plan(study, known=(alone,)).budget.slot_hours

    assert both.finals == pytest.approx(only_alone.finals)
    searched = only_alone.median - only_alone.finals
    # Half of the searches: chopra is trained alone, contrastive at a tenth of the cost.
    assert both.median - both.finals == pytest.approx(searched * (1.0 + 0.1) / 2)
