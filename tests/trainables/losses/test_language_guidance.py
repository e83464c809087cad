import pytest
import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.losses.language_guidance import LanguageGuidance
from tests.trainables.losses.loss_cases import balanced_labels, embeddings

LABELS = balanced_labels(num_classes=3, samples_per_class=2)


def guided(text, *, x=None, **hyperparameters):
    x = embeddings(6, dtype=torch.float64) if x is None else x
    x = x.clone().requires_grad_()
    output = LanguageGuidance(**hyperparameters)(Batch.of(x, LABELS, class_text_BT=text))
    (gradient,) = torch.autograd.grad(output.value, x)
    return output, gradient


def text_of_classes(seed=4):
    return embeddings(3, dim=5, dtype=torch.float64, seed=seed)[LABELS]


def test_only_pairs_of_two_classes_are_active():
    output, _ = guided(text_of_classes())
    assert output.active_fraction == pytest.approx(24 / 30)
