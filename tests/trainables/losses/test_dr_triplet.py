import pytest
import torch

from tests.trainables.losses.loss_cases import BATCHES, prepared_loss, run
from trainables.loss_composition.batch import Batch
from trainables.losses.dr_triplet import DRTriplet
from trainables.registry import names


@pytest.mark.parametrize("miner", names("miners"))
@pytest.mark.parametrize("batch_name", ["clustered", "duplicates", "unbalanced"])
def test_without_weight_of_the_direction_it_is_the_triplet_loss(miner, batch_name):
    x, labels, num_classes = BATCHES[batch_name]
    outputs = [
        run(
            prepared_loss(name, num_classes=num_classes, margin=0.3, miner=miner, **more),
            x.double(),
            labels,
        )
        for name, more in (("dr_triplet", {"gamma": 0.0}), ("triplet_l2", {}))
    ]
    torch.testing.assert_close(outputs[0], outputs[1])


def test_hand_computed_on_the_circle():
    """From 0 degrees, at (1, 0): p at (0, 1), n at (0, -1), so the ways are at a right angle."""
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], dtype=torch.float64)
    batch = Batch.of(x, torch.tensor([0, 0, 1]))
    # From (0, 1): p at (1, 0), n opposite; the ways (1, -1) and (0, -2) are at 45 degrees.
    hinges = (2.0 - 2.0 + 2.5 - 0.0, 2.0 - 4.0 + 2.5 - 0.1 * 0.5**0.5)
    output = DRTriplet(margin=2.5, gamma=0.1, miner="all_triplets")(batch)
    assert output.value.item() == pytest.approx(sum(hinges) / 2)
    assert output.active_fraction == 1.0
    output = DRTriplet(margin=2.5, gamma=1.0, miner="all_triplets")(batch)  # closes the second
    assert output.value.item() == pytest.approx(2.5)
    assert output.active_fraction == 0.5
