import torch

from tests.trainables.losses.loss_cases import BATCHES, on_circle
from trainables.loss_composition.batch import Batch
from trainables.losses.cosine_pairwise import CosinePairwise


def test_a_hand_computed_batch():
    # Angles 0 and 60 degrees within the class, 90 and 30 degrees to the other one.
    batch = Batch.of(on_circle(0.0, 60.0, 90.0), torch.tensor([0, 0, 1]))
    to_orthogonal = CosinePairwise(target_negative=0.0)(batch).value
    to_opposite = CosinePairwise(target_negative=-1.0)(batch).value
    root = 3.0**0.5 / 2.0
    torch.testing.assert_close(to_orthogonal.item(), 0.25 + (0.0 + 0.75) / 2.0)
    torch.testing.assert_close(to_opposite.item(), 0.25 + (1.0 + (1.0 + root) ** 2) / 2.0)


def test_classes_on_orthogonal_axes_reach_target_zero_exactly():
    x, labels = torch.eye(6).repeat_interleave(2, dim=0), torch.arange(6).repeat_interleave(2)
    assert CosinePairwise(target_negative=0.0)(Batch.of(x, labels)).value == 0.0


def test_a_side_without_pairs_adds_nothing():
    x, labels, _ = BATCHES["one class"]
    one_class = [CosinePairwise(target_negative=t)(Batch.of(x, labels)).value for t in (-1.0, 0.0)]
    assert one_class[0] == one_class[1] > 0.0
