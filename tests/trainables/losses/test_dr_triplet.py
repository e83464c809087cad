import pytest
import torch

from trainables.loss_composition.batch import Batch
from trainables.losses.dr_triplet import DRTriplet


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
