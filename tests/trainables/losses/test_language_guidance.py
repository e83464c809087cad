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


def test_images_as_similar_as_the_names_of_their_classes_have_no_loss():
    centres = embeddings(3, dtype=torch.float64)[LABELS]
    output, gradient = guided(centres, x=centres, gamma=0.0)
    assert output.value.item() == pytest.approx(0.0, abs=1e-12)
    assert gradient.norm() < 1e-12


def test_images_of_one_class_do_not_move_each_other():
    x = embeddings(6, dtype=torch.float64)
    x[0], x[1] = torch.tensor([1.0] + [0.0] * 7), torch.tensor([0.0, 1.0] + [0.0] * 6)
    x[2:, :2] = 0.0  # the other classes lie across both
    _, gradient = guided(text_of_classes(), x=x)
    assert gradient[0, 1] == gradient[1, 0] == 0.0


def test_only_pairs_of_two_classes_are_active():
    output, _ = guided(text_of_classes())
    assert output.active_fraction == pytest.approx(24 / 30)
