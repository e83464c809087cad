import torch

from tests.trainables.losses.loss_cases import BATCHES
from trainables.loss_composition.batch import Batch
from trainables.losses.lifted_mined import LiftedMined
from trainables.losses.lifted_structure import LiftedStructure


def test_with_all_pairs_at_sharpness_one_it_is_twice_the_lifted_loss_without_its_hinge():
    x, labels, _ = BATCHES["balanced"]
    batch = Batch.of(x.double(), labels)
    mined = LiftedMined(alpha=1.0, beta=1.0, epsilon=2.0)(batch)
    # At this margin every hinge is open, and the margin is all that it adds.
    lifted = LiftedStructure(margin=10.0)(batch)
    torch.testing.assert_close(mined.value, 2.0 * (lifted.value - 10.0))
    assert mined.active_fraction == lifted.active_fraction == 1.0


def test_at_high_sharpness_it_is_twice_the_distance_of_the_hardest_pairs():
    x, labels, _ = BATCHES["balanced"]
    batch = Batch.of(x.double(), labels)
    cosine = batch.normalised_BD @ batch.normalised_BD.T
    same = labels[:, None] == labels
    hardest_positive = cosine.masked_fill(~same, 1.0).amin(1)
    hardest_negative = cosine.masked_fill(same, -1.0).amax(1)
    mined = LiftedMined(alpha=1e3, beta=1e3, epsilon=2.0)(batch)
    expected = 2.0 * (hardest_negative - hardest_positive).mean()
    torch.testing.assert_close(mined.value, expected, rtol=0.0, atol=1e-2)


def test_where_every_class_is_apart_nothing_is_mined():
    x = torch.eye(3).repeat_interleave(2, dim=0)
    output = LiftedMined(epsilon=0.5)(Batch.of(x, torch.arange(3).repeat_interleave(2)))
    assert output.value == output.active_fraction == 0.0
