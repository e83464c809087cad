import pytest
import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.losses.polar_sine import PolarSine
from tests.trainables.losses.loss_cases import DIM, balanced_labels, embeddings, run


def value_of(x, labels, **hyperparameters):
    return PolarSine(**hyperparameters)(Batch.of(x, torch.as_tensor(labels))).value.item()


def test_more_classes_than_dimensions_are_cut_into_tuples_of_at_most_that_many():
    num_classes = 2 * DIM
    axes = torch.eye(DIM, dtype=torch.float64).repeat(2, 1)
    x = axes.repeat_interleave(2, dim=0)
    assert value_of(x, balanced_labels(num_classes, 2)) == 0.0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_nearly_equal_embeddings_of_many_classes_stay_finite(dtype):
    x = embeddings(1, dim=512, dtype=dtype) + 1e-6 * embeddings(180, dim=512, dtype=dtype, seed=1)
    value, gradients, _ = run(PolarSine(), x, balanced_labels(36, 5))
    assert value.isfinite()
    assert gradients["embeddings"].isfinite().all()
