import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.losses.lifted_mined import LiftedMined
from podium.trainables.losses.lifted_structure import LiftedStructure
from tests.trainables.losses.loss_cases import BATCHES


def test_with_all_pairs_at_sharpness_one_it_is_twice_the_lifted_loss_without_its_hinge():
    x, labels, _ = BATCHES["balanced"]
    batch = Batch.of(x.double(), labels)
    mined = LiftedMined(alpha=1.0, beta=1.0, epsilon=2.0)(batch)
    # At this margin every hinge is open, and the margin is all that it adds.
    lifted = LiftedStructure(margin=10.0)(batch)
    torch.testing.assert_close(mined.value, 2.0 * (lifted.value - 10.0))
    assert mined.active_fraction == lifted.active_fraction == 1.0
