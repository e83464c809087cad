"""A loss over prefixes: its sum against an independent one, and what is scored of prefixes."""

from dataclasses import replace

import pytest
import torch
from torch.nn.functional import normalize

from podium.trainables.errors import TrialInputError
from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Loss, LossOutput
from podium.trainables.loss_composition.make_criterion import make_criterion
from podium.trainables.trial.run_trial import run_trial
from tests.trainables.losses.loss_cases import (
    BATCHES,
    LOSSES,
    SMALL_BATCHES,
    full_batch,
    oracle_of,
    points_between,
    run,
    value_and_gradients,
)
from tests.trainables.tiny_trials import tiny_trial

DIMS = (8, 4, 2)


class TrainsAMatrix(Loss):
    def make_parameters(self, num_classes, embedding_dim, generator):
        return {"metric": torch.eye(embedding_dim)}

    @staticmethod
    def compute(batch, parameters, hyperparameters):
        value = (batch.embeddings_BD @ parameters["metric"]).square().mean()
        return LossOutput(value, torch.ones(()))


def prepared(loss, num_classes, dtype=torch.float32, **hyperparameters):
    criterion = make_criterion(f"matryoshka:{loss}", {"smallest_prefix": 2, **hyperparameters})
    criterion.prepare(num_classes, DIMS[0], torch.Generator().manual_seed(1))
    return criterion.to(dtype)


def shrunk(batch, length):
    """As sentence-transformers' MatryoshkaLoss: cut, then normalised again."""
    x = batch.embeddings_BD[:, :length]
    return batch._replace(
        embeddings_BD=x,
        normalised_BD=normalize(x, dim=1),
        views_BVD=batch.views_BVD[..., :length],
    )


@pytest.mark.parametrize("name", LOSSES)
def test_values_and_gradients_are_the_sum_of_the_oracle_over_prefixes(name):
    x, labels, num_classes = SMALL_BATCHES["clustered"]
    point = points_between(name, num_points=1)[0]
    loss = prepared(name, num_classes, torch.float64, **point)
    parameters = [(key.removeprefix("loss."), it) for key, it in loss.named_parameters()]

    def slow(x, parameters):
        return sum(
            oracle_of(name)(
                shrunk(full_batch(x, labels), length),
                {key: it[..., :length] if it.ndim > 1 else it for key, it in parameters.items()},
                **point,
            )
            for length in DIMS
        )

    expected, expected_gradients = value_and_gradients(slow, x.double(), parameters)
    value, gradients, _ = run(loss, x.double(), labels)
    gradients = {key.removeprefix("loss."): it for key, it in gradients.items()}
    torch.testing.assert_close(value, expected, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(gradients, expected_gradients, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("name", ["multi_similarity", "proxy_anchor", "softmax", "triplet_l2"])
@pytest.mark.parametrize("batch_name", [*BATCHES, "identical", "zeros", "zero prefixes"])
def test_odd_batches_give_finite_values_and_gradients(name, batch_name):
    x, labels, num_classes = BATCHES.get(batch_name, BATCHES["balanced"])
    odd = {
        "identical": x[:1].expand_as(x),
        "zeros": 0 * x,
        "zero prefixes": x * (torch.arange(8) > 3),
    }
    value, gradients, active = run(prepared(name, num_classes), odd.get(batch_name, x), labels)
    assert value.isfinite()
    assert all(it.isfinite().all() for it in gradients.values())
    assert 0 <= active <= 1


def test_a_trained_parameter_that_cannot_be_cut_is_refused():
    here = f"{TrainsAMatrix.__module__}:TrainsAMatrix"
    for loss, name in (
        (here, "metric"),
        ("pytorch_metric_learning.losses:ProxyNCALoss", "proxies"),
    ):
        with pytest.raises(TrialInputError, match=f"the loss also trains .*{name} of shape"):
            prepared(loss, 6)


def test_a_loss_of_another_library_is_summed_over_prefixes():
    x, labels, num_classes = BATCHES["clustered"]
    circle = "pytorch_metric_learning.losses:CircleLoss"
    alone = make_criterion(circle, {})
    alone.prepare(num_classes, DIMS[0], torch.Generator())
    expected = sum(alone(Batch.of(x[:, :length], labels)).value for length in DIMS)
    torch.testing.assert_close(run(prepared(circle, num_classes), x, labels)[0], expected)


def recalls(report, role):
    found = [score for score in report.scores if score.role == role and score.k == 1]
    return {score.metric: score.value for score in found if score.metric.startswith("recall")}


def brute_force_recall(x, labels):
    x = normalize(x, dim=1)
    similarities = (x @ x.T).fill_diagonal_(-2)
    return (labels[similarities.argmax(1)] == labels).double().mean().item()


def test_finals_are_scored_by_prefixes_on_validation_and_test(cache_folder):
    settings = tiny_trial(cache_folder, loss="matryoshka:contrastive", embedding_dim=32)
    kept = []
    *epochs, test = run_trial(settings, keep=kept.append)
    names = ["recall", "recall_of_first_16", "recall_of_first_8"]
    assert all(list(recalls(epoch, "val")) == names for epoch in epochs)
    x = torch.from_numpy(kept[0].embeddings.embeddings_ND)
    labels = torch.from_numpy(kept[0].embeddings.labels_N)
    expected = [brute_force_recall(x[:, :length], labels) for length in (32, 16, 8)]
    assert recalls(test, "test") == pytest.approx(dict(zip(names, expected, strict=True)))
    for changes in ({"evaluate_test": False}, {"test_scores": "metrics"}):
        for report in run_trial(replace(settings, **changes)):
            assert not any("first" in score.metric for score in report.scores)


def test_an_embedding_without_a_shorter_prefix_is_refused(cache_folder):
    settings = tiny_trial(cache_folder, loss="matryoshka:contrastive", embedding_dim=8)
    with pytest.raises(TrialInputError, match=r"smallest_prefix must be at most 4, half of .* 8"):
        next(iter(run_trial(settings)))
