import torch

from trainables.loss_composition.batch import Batch
from trainables.losses.tuple_pairwise import TuplePairwise


def test_classes_on_orthogonal_unit_vectors_are_perfect():
    x, labels = torch.eye(6).repeat_interleave(3, dim=0), torch.arange(6).repeat_interleave(3)
    assert TuplePairwise()(Batch.of(x, labels)).value == 0.0
    # Twice as long, (1 - 4)^2 for the positive and 1 for each of its 7 lengths.
    assert TuplePairwise()(Batch.of(2.0 * x, labels)).value == 9.0 + 7.0
    assert TuplePairwise(norm_weight=0.0)(Batch.of(2.0 * x, labels)).value == 9.0
