import itertools
import math
from dataclasses import replace

import pytest

from podium.orchestrator.planning.block_plan import few_batches, short_searches, slow_proxies
from podium.orchestrator.planning.study_plan import plan
from podium.orchestrator.study.blocks import blocks, searches
from podium.orchestrator.study.fairness import fairness
from podium.orchestrator.study.study import StudyLoss
from podium.trainables.settings.trial_settings import ProtocolSettings
from tests.orchestrator.study_files import load

TEXT = """
study: planned
datasets: [{name: glyphs, script: latin, classes: 100}, {name: glyphs, script: greek, classes: 80}]
embedding_dims: [16, 32]
losses: [contrastive, multi_similarity, proxy_anchor]
protocol: {kind: fixed, val_fraction: 0.2}
search: {trials: 7, repeats: 2, tune: [learning_rate, proxy_learning_rate]}
final: {seeds: 3, protocol: {kind: kfold, folds: 5}}
training: {epochs: 4}
"""


@pytest.fixture
def study(tmp_path):
    return load(tmp_path, TEXT)


def test_searches_are_blocks_x_losses_x_repeats(study):
    found = searches(study)
    assert len(blocks(study)) == 4
    assert len(found) == len({search.id for search in found}) == 4 * 3 * 2
    assert found[0].id == "glyphs-latin.conv_small.16.contrastive.fixed.0"
    assert found[1].id == "glyphs-latin.conv_small.16.contrastive.fixed.1"
    assert found[-1].id == "glyphs-greek.conv_small.32.proxy_anchor.fixed.1"


def test_every_trial_is_counted(study):
    """Counted again one by one: the oracle of the products in the plan."""
    planned = plan(study)
    search_trials = list(itertools.product(searches(study), range(7)))
    finals = list(itertools.product(searches(study), ("winner", "default"), range(3), range(5)))
    baselines = list(itertools.product(blocks(study), range(3), range(5)))
    baselines += study.datasets  # features, whatever the dimension
    assert {name: trials for name, (trials, _) in planned.stages.items()} == {
        "search": len(search_trials),
        "final": len(finals),
        "baseline": len(baselines),
    }
    assert planned.trials == len(search_trials) + len(finals) + len(baselines)
    assert {name: epochs for name, (_, epochs) in planned.stages.items()} == {
        "search": 4 * len(search_trials),
        "final": 4 * len(finals),
        "baseline": 0,
    }
    assert planned.epochs == sum(epochs for _, epochs in planned.stages.values())
    assert planned.epochs == sum(item.epochs for item in planned.searches)


def test_a_search_over_folds_trains_each_config_on_all_of_them(study):
    folds = ProtocolSettings(kind="kfold", val_fraction=None, folds=3)
    planned = plan(replace(study, protocols=(folds,), final=replace(study.final, protocol=None)))
    assert planned.stages["search"] == (24 * 7, 24 * 7 * 3 * 4)
    assert planned.stages["final"] == (24 * 2 * 3 * 3, 24 * 2 * 3 * 3 * 4)
    assert planned.epochs == sum(item.epochs for item in planned.searches)
    assert planned.fairness.equal["validation"] == "the same splits of the classes"


def test_dimensions_are_those_of_the_joined_space(study):
    dimensions = {item.search.loss: item.dimensions for item in plan(study).searches}
    assert dimensions == {"contrastive": 2, "multi_similarity": 5, "proxy_anchor": 4}


def test_queries_and_their_standard_error_come_from_the_data_set(study):
    latin, greek = plan(study).datasets
    assert (latin.dataset, greek.dataset) == ("glyphs-latin", "glyphs-greek")
    assert (latin.train_classes, latin.val_classes, latin.test_classes) == (40, 10, 50)
    assert latin.val_queries == 10 * 16
    assert latin.standard_error == pytest.approx(math.sqrt(0.8 * 0.2 / 160))
    assert greek.standard_error > latin.standard_error


def test_folds_of_unequal_size_are_judged_by_the_smallest(study):
    folds = ProtocolSettings(kind="kfold", val_fraction=None, folds=3)
    latin = plan(replace(study, protocols=(folds,))).datasets[0]
    assert (latin.val_classes, latin.folds) == (50 // 3, 3)


def test_fairness_names_the_budget_and_the_losses_with_more_dimensions(study):
    told = plan(study).fairness
    assert told.equal["searches"].startswith("7 trials by tpe")
    larger = told.disparities[0]
    assert str(larger) == (
        "searched hyperparameters: 2 for contrastive; 4 for proxy_anchor; 5 for multi_similarity"
    )
    assert plan(replace(study, losses=(StudyLoss("contrastive"),))).fairness.disparities == ()


FILES = """
study: files
datasets: [{name: cub200, root: /nowhere/cub}, sop, glyphs]
backbones: [resnet50, {name: bn_inception, weights: /nowhere/bn.pth}]
losses: [contrastive, arcface]
search: {trials: 3, tune: []}
final: {seeds: 1}
"""


def test_data_that_are_not_there_are_planned_by_their_published_counts(tmp_path):
    cub, sop, glyphs = plan(load(tmp_path, FILES)).datasets
    assert (cub.train_classes, cub.val_classes, cub.test_classes) == (90, 10, 100)
    assert cub.val_queries == 586  # 5,864 images of 100 classes
    assert sop.val_queries == round(59551 / 11318 * 1132)
    assert glyphs.val_queries > 0


def test_what_is_missing_on_this_machine_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    (tmp_path / "cub").mkdir()
    (tmp_path / "bn.pth").write_bytes(b"weights")
    assert plan(load(tmp_path, FILES)).missing == (
        "data: cub200 not found at /nowhere/cub; needed before the run",
        "data: sop has no root, the folder it is in; needed before the run",
        f"weights: no file of resnet50 in {tmp_path}/hub/checkpoints; the run downloads imagenet,"
        " or say which file it starts from",
        "weights: bn_inception not found at /nowhere/bn.pth; needed before the run",
    )
    (tmp_path / "hub/checkpoints").mkdir(parents=True)
    (tmp_path / "hub/checkpoints/resnet50-11ad3fa6.pth").touch()
    there = (f"datasets.0.root={tmp_path}/cub", f"backbones.1.weights={tmp_path}/bn.pth")
    (sop,) = plan(load(tmp_path, FILES, *there)).missing
    assert sop.startswith("data: sop")


def test_each_block_is_planned_with_its_own_training(tmp_path):
    planned = plan(load(tmp_path, FILES))
    batches = {item.block.label: item.training.batch_size for item in planned.trainings}
    assert batches["cub200/resnet50/32/224px"] == 100
    assert batches["cub200/bn_inception/32/224px"] == 180
    assert [item.block for item in planned.trainings] == list(planned.blocks)
    weights = {item.block.backbone: item.weights for item in planned.trainings}
    assert weights == {"resnet50": "imagenet", "bn_inception": "/nowhere/bn.pth"}
    first = planned.trainings[0]
    assert first.of_losses == {"arcface": {"proxy_learning_rate": 1e-4, "sampler": "random"}}
    assert first.defaults["arcface"]["scale"] == 64.0


def test_a_network_from_scratch_that_follows_few_batches_is_warned_of_once(tmp_path):
    short = TEXT.replace("epochs: 4", "epochs: 1, batch_size: 20000")
    (warning,) = few_batches(load(tmp_path, short))
    assert warning.startswith("Warning: conv_small begins at random and follows few batches (1).")
    assert list(few_batches(load(tmp_path, short.replace("epochs: 1", "epochs: 60")))) == []
    frozen = short.replace("epochs: 1", "epochs: 1, batch_norm: frozen")
    assert list(few_batches(load(tmp_path, frozen))) == []


def test_searches_shorter_than_finals_are_counted_and_warned_of(tmp_path):
    whole, short = load(tmp_path, TEXT), load(tmp_path, TEXT, "search.epochs=1")
    assert list(short_searches(whole)) == []
    (warning,) = short_searches(short)
    assert "trials of searches end after epoch 1, and finals after epoch 4:" in warning
    assert "up to epoch 1 by" in fairness(short).equal["searches"]
    counted, of_whole = plan(short).stages, plan(whole).stages
    assert 4 * counted["search"][1] == of_whole["search"][1]
    assert counted["final"] == of_whole["final"]


def test_fixed_rates_of_proxies_far_below_that_of_a_network_from_scratch_are_warned_of(tmp_path):
    fixed = TEXT.replace("[learning_rate, proxy_learning_rate]", "[learning_rate]")
    slow = fixed.replace("epochs: 4", "epochs: 4, proxy_learning_rate: 1.0e-4")
    of = [it.split(" follow at")[0] for it in slow_proxies(load(tmp_path, slow))]
    assert of == ["Warning: proxies of proxy_anchor"]
    assert list(slow_proxies(load(tmp_path, fixed))) == []
    searched = "search.tune=[proxy_learning_rate]"
    assert list(slow_proxies(load(tmp_path, slow, searched))) == []
