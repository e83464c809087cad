"""What a trainer does to parameters, and gives to losses beside embeddings and labels."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from podium.trainables.batch_samplers.hard_neighbours import HardNeighbours
from podium.trainables.batches.labelled_images import images_of_classes
from podium.trainables.dataset_interface.class_text import write_class_text
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.errors import Diverged, TrialInputError
from podium.trainables.loss_composition.loss_base import Criterion, LossOutput
from podium.trainables.network.network import Network
from podium.trainables.recipes import RECIPES, loss_values, training_for
from podium.trainables.reproducibility import derive_seed, reproducible
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.training_loop.evaluation import embed
from podium.trainables.training_loop.trainer import Trainer
from podium.trainables.trial.fold_run import FoldRun
from podium.trainables.trial.run_trial import run_trial
from podium.trainables.trial.setup import set_up
from tests.soak import soak
from tests.trainables.tiny_trials import (
    ON_THE_CPU,
    assert_continues_after_any_report,
    tiny_trial,
    untimed,
)

# One of each kind: a memory, random triplets, a sequence, several views, a foreign loss.
WITH_STATE = {
    "memory:contrastive": {"memory_size": 40, "memory_start_epoch": 1},
    "margin": {},
    "proxy_anchor>contrastive": {},
    "statistical": {},
    "matryoshka:proxy_anchor": {},
    "contrastive+pytorch_metric_learning.losses:ProxyNCALoss": {},
}


@pytest.mark.parametrize("loss", [*list(WITH_STATE)[:2], *soak(*list(WITH_STATE)[2:])])
def test_a_trial_continues_as_if_undisturbed_whatever_its_loss_remembers(cache_folder, loss):
    settings = tiny_trial(cache_folder, loss=loss, hyperparameters=WITH_STATE[loss])
    reports = assert_continues_after_any_report(settings)
    assert all(report.scores for report in reports)


def trained_weights(cache_folder, **changes):
    training = replace(
        TrainingSettings(epochs=2, batch_size=48, weight_decay=0.1, proxy_learning_rate=0.1),
        **changes,
    )
    settings = tiny_trial(cache_folder, training=training, loss="proxy_anchor")
    run = FoldRun(set_up(settings), 0, torch.device("cpu"))
    with reproducible(1, 1):
        for epoch in range(1, training.epochs + 1):
            run.train(epoch)
    return {name: value.clone() for name, value in run.state_dict()["embedder"].items()}


@pytest.fixture(scope="module")
def usual_weights(cache_folder):
    return trained_weights(cache_folder)


# Of what the plain loop does not do; see test_training_against_plain_loop.
CHANGES = [
    {"epochs": 1},
    {"batch_size": 24},
    {"micro_batch_size": 10},  # BatchNorm normalises each part by itself
    {"samples_per_class": 8},
    {"sampler": "random"},
    {"sampler": "hard_neighbours"},
    {"precision": "bf16"},
    {"augmentation": "none"},
    {"head_init": "kaiming"},
    {"layer_norm": True},
]


@pytest.mark.filterwarnings("ignore:training.batch_norm .* freezes statistics")
@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_every_choice_of_a_recipe_changes_what_is_learned(cache_folder, usual_weights, changes):
    changed = trained_weights(cache_folder, **changes)
    assert set(changed) == set(usual_weights)
    name = "embedding.weight"
    assert not torch.equal(changed[name], usual_weights[name])
    assert all(value.isfinite().all() for value in changed.values())


@pytest.mark.parametrize("training", [{}, {"channels_last": False}])
def test_the_same_recipe_learns_the_same_bits(cache_folder, training):
    first, second = (trained_weights(cache_folder, **training) for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.filterwarnings("ignore:training.batch_norm .* freezes statistics")
def test_what_freezing_batch_norm_leaves_alone(cache_folder):
    start = trained_weights(cache_folder, epochs=0)
    moved = {}
    for mode in ("train", "frozen_statistics", "frozen"):
        after = trained_weights(cache_folder, batch_norm=mode, warm_up_epochs=1)
        moved[mode] = {name for name in start if not torch.equal(start[name], after[name])}
    norms = [f"backbone.layers.{layer}" for layer in (1, 4, 7)]
    affine = {f"{norm}.{name}" for norm in norms for name in ("weight", "bias")}
    statistics = set(start) - {name for name in start if name.endswith(("weight", "bias"))}
    assert moved["train"] == set(start)
    assert moved["frozen_statistics"] == set(start) - statistics
    assert moved["frozen"] == set(start) - statistics - affine


RESUMED = [
    {"step_epochs": 1, "step_factor": 0.5, "warm_up_epochs": 1},
    {"optimiser": "sgd", "learning_rate": 0.01, "micro_batch_size": 12, "clip_value": 1e-3},
    {"optimiser": "rmsprop", "precision": "bf16", "step_epochs": 2},
    {"optimiser": "adam", "warm_up_epochs": 2, "head_learning_rate_factor": 10.0},
]


@pytest.mark.parametrize("changes", [*RESUMED[:2], *soak(*RESUMED[2:])], ids=str)
def test_a_trial_continues_in_the_middle_of_its_schedule_as_if_undisturbed(cache_folder, changes):
    training = TrainingSettings(epochs=3, batch_size=32, **changes)
    settings = tiny_trial(
        cache_folder, training=training, loss="proxy_anchor", evaluate_test=False
    )
    assert_continues_after_any_report(settings)


@pytest.mark.parametrize("mode", ["fine_tune", "frozen_features"])
def test_a_trial_whose_batches_follow_its_embeddings_continues_as_if_undisturbed(
    cache_folder, mode
):
    training = TrainingSettings(epochs=3, batch_size=32, sampler="hard_neighbours", mode=mode)
    settings = tiny_trial(cache_folder, training=training, loss="triplet")
    reports = assert_continues_after_any_report(settings)
    balanced = replace(settings, training=replace(training, sampler="balanced"))
    assert untimed(run_trial(balanced)) != reports


class Noting(Criterion):
    """Moves the network, and notes the classes of each batch."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, batch):
        self.seen.append(batch.labels_B.tolist())
        return LossOutput(batch.embeddings_BD.square().sum(), torch.ones(()))


def test_batches_follow_the_network_as_it_is_before_the_epoch(cache_folder):
    training = TrainingSettings(epochs=2, batch_size=16, sampler="hard_neighbours")
    setup = set_up(tiny_trial(cache_folder, training=training))
    images = images_of_classes(setup.dataset, setup.dataset.train_classes, ON_THE_CPU)
    criterion = Noting()
    with reproducible(1, 1):
        network = Network(setup.make_embedder(), training, torch.device("cpu"))
        trainer = Trainer(network, criterion, images, training, seed=0)
        _, labels = np.unique(images.labels_N.numpy(), return_inverse=True)
        sampler = HardNeighbours(labels, 16, 4, derive_seed(0, "batches"))
        embeddings = []
        for epoch in (1, 2):
            embeddings.append(embed(network, images).numpy())
            criterion.seen.clear()
            trainer.train(0, epoch)
            batches = sampler.epoch(epoch, embeddings[-1])
            assert criterion.seen == [labels[batch].tolist() for batch in batches]
    stale = sampler.epoch(2, embeddings[0])
    assert criterion.seen != [labels[batch].tolist() for batch in stale]


def test_embeddings_that_are_not_finite_make_no_batches(cache_folder):
    training = TrainingSettings(epochs=1, batch_size=16, sampler="hard_neighbours")
    setup = set_up(tiny_trial(cache_folder, training=training))
    images = images_of_classes(setup.dataset, setup.dataset.train_classes, ON_THE_CPU)
    network = Network(setup.make_embedder(), training, torch.device("cpu"))
    with torch.no_grad():
        network.embedder.embedding.weight.fill_(torch.nan)
    trainer = Trainer(network, Noting(), images, training, seed=0)
    with pytest.raises(Diverged, match=r"160 of 160 train embeddings are NaN or infinite"):
        trainer.train(0, 1)


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_untrained_baseline_works_with_every_recipe(cache_folder, recipe):
    training = training_for(recipe, dataset="glyphs", backbone="conv_small")
    settings = tiny_trial(cache_folder, loss="untrained", training=replace(training, epochs=0))
    assert [report.epoch for report in run_trial(settings)] == [0, 0]


@pytest.mark.parametrize("recipe", sorted(set(RECIPES) - {"log_ratio_paper"}))  # of another task
def test_every_recipe_trains(cache_folder, recipe):
    training = training_for(recipe, dataset="glyphs", backbone="conv_small")
    settings = tiny_trial(
        cache_folder,
        loss="proxy_anchor",
        training=replace(training, epochs=2, batch_size=6 * training.samples_per_class),
        hyperparameters=loss_values(recipe, "proxy_anchor"),
        evaluate_test=False,
    )
    assert [report.epoch for report in run_trial(settings)] == [1, 2]


def test_class_text_reaches_the_loss_and_changes_what_is_learned(cache_folder, tmp_path):
    settings = tiny_trial(cache_folder, loss="contrastive+language_guidance")
    names = load_dataset(settings.dataset, cache_folder).train_class_names
    results = []
    for seed in (0, 1):
        vectors = np.random.default_rng(seed).normal(size=(len(names), 5)).astype(np.float32)
        file = tmp_path / f"{seed}.csv"
        write_class_text(file, dict(zip(names, vectors, strict=True)))
        options = {**settings.dataset.options, "class_text": str(file)}
        dataset = replace(settings.dataset, options=options)
        results.append(untimed(run_trial(replace(settings, dataset=dataset))))
    assert results[0] != results[1]
    with pytest.raises(TrialInputError, match="class_text"):
        list(run_trial(settings))
