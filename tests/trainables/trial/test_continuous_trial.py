"""Trials on continuous labels: what they score, by which distance, and what they refuse."""

from dataclasses import replace

import pytest
import torch

import podium.trainables.trial.fold_run as fold_run
from podium.trainables.batches.labelled_images import images_of_classes
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.errors import TrialInputError
from podium.trainables.loss_composition.loss_base import Criterion, LossOutput
from podium.trainables.network.embedder import Embedder
from podium.trainables.network.network import Network
from podium.trainables.registry import load
from podium.trainables.settings.trial_settings import DatasetSettings
from podium.trainables.training_loop.evaluation import Evaluator
from podium.trainables.training_loop.trainer import Trainer
from podium.trainables.trial.run_trial import run_trial
from podium.trainables.trial.setup import set_up
from tests.trainables.tiny_trials import (
    ON_THE_CPU,
    assert_continues_after_any_report,
    masks,
    tiny_trial,
)


def masks_trial(cache_folder, *, loss="log_ratio", sampler="label_neighbours", **changes):
    return masks(tiny_trial(cache_folder, **changes), loss, sampler)


def of(report, role, metric):
    found = [score for score in report.scores if (score.role, score.metric) == (role, metric)]
    return {score.k: score.value for score in found}


@pytest.mark.parametrize(
    "loss",
    [
        "log_ratio",
        "dense_triplet",
        "neighbour_triplet",
        "threshold_triplet",
        "log_ratio+contrastive",
    ],
)
def test_a_trial_reports_ndcg_and_label_distance_instead_of_recall(cache_folder, loss):
    *epochs, test = run_trial(masks_trial(cache_folder, loss=loss))
    for report, role in ((epochs[-1], "val"), (test, "test")):
        assert set(of(report, role, "ndcg")) == {1, 2, 4, 8}
        assert all(0.0 < value <= 1.0 for value in of(report, role, "ndcg").values())
        assert all(0.0 < v < 1.0 for v in of(report, role, "mean_label_distance").values())
        assert not of(report, role, "recall")
        assert report.class_hits == ()
        assert report.scores[-1].queries == report.scores[-1].gallery > 0
    best = max(of(report, "val", "ndcg")[1] for report in epochs)
    assert of(epochs[test.epoch - 1], "val", "ndcg")[1] == best
    assert {found.is_correct for query in test.retrievals for found in query.neighbours} == {None}


def test_an_interrupted_trial_continues_as_if_undisturbed(cache_folder):
    assert_continues_after_any_report(masks_trial(cache_folder))


def test_shapes_it_does_not_train_on_are_retrieved_better_than_untrained(cache_folder):
    settings = replace(
        masks_trial(cache_folder, loss="dense_triplet", epochs=6, seed=4, evaluate_test=False),
        dataset=DatasetSettings(name="glyph_masks"),
        embedding_dim=32,
    )
    (untrained,) = run_trial(
        replace(settings, loss="untrained", training=replace(settings.training, epochs=0))
    )
    *_, last = run_trial(settings)
    gained = {
        metric: of(last, "val", metric)[8] - of(untrained, "val", metric)[8]
        for metric in ("ndcg", "mean_label_distance")
    }
    assert gained["ndcg"] > 0.01, gained
    assert gained["mean_label_distance"] < -0.02, gained


@pytest.mark.parametrize(
    ("loss", "epochs", "geometry"),
    [("log_ratio", 1, "euclidean"), ("dense_triplet", 1, "cosine"), ("untrained", 0, "cosine")],
)
def test_images_are_retrieved_by_what_the_loss_compares(
    cache_folder, monkeypatch, loss, epochs, geometry
):
    asked = []

    def noting(*, geometry, **named):
        asked.append(geometry)
        return Evaluator(geometry=geometry, **named)

    monkeypatch.setattr(fold_run, "Evaluator", noting)
    list(run_trial(masks_trial(cache_folder, loss=loss, epochs=epochs)))
    assert set(asked) == {geometry}


class Noting(Criterion):
    """Keeps the label distances of every batch."""

    needs = frozenset({"label_distances"})

    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, batch):
        self.seen.append(batch.label_distances_BB)
        value = batch.embeddings_BD.sum()
        return LossOutput(value, torch.ones(()))


def test_a_batch_brings_the_label_distances_of_its_images(cache_folder):
    setup = set_up(masks_trial(cache_folder))
    images = images_of_classes(setup.dataset, setup.dataset.train_classes, ON_THE_CPU)
    criterion = Noting()
    embedder = Embedder(load("backbones", "conv_small")(), 4, setup.training)
    network = Network(embedder, setup.training, torch.device("cpu"))
    Trainer(network, criterion, images, setup.training, seed=0).train(0, 1)
    assert criterion.seen
    for distances_BB in criterion.seen:
        assert distances_BB.dtype == torch.float32
        torch.testing.assert_close(distances_BB, distances_BB.T)
        # The sampler drew the five nearest to the anchor, in order, before all others.
        from_anchor = distances_BB[0]
        assert from_anchor[0] == 0.0
        assert (from_anchor[1:6].diff() >= 0.0).all()
        assert from_anchor[5] <= from_anchor[6:].min()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"loss": "contrastive"}, "contrastive learns classes, and the data set glyph_masks"),
        ({"name": "glyphs"}, "log_ratio compares label distances, and the data set glyphs"),
        (
            {"name": "glyphs", "loss": "contrastive"},
            "sampler label_neighbours compares label distances",
        ),
    ],
)
def test_a_loss_or_sampler_for_another_task_is_refused(cache_folder, changes, message):
    settings = masks_trial(cache_folder, loss=changes.get("loss", "log_ratio"))
    name = changes.get("name", "glyph_masks")
    with pytest.raises(TrialInputError, match=message):
        set_up(replace(settings, dataset=replace(settings.dataset, name=name)))


def test_a_single_image_cannot_be_retrieved(cache_folder):
    dataset = load_dataset(masks_trial(cache_folder).dataset, cache_folder)
    with pytest.raises(TrialInputError, match="there must be 2 images"):
        images_of_classes(dataset, [], ON_THE_CPU)
