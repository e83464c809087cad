import torch

from tests.trainables.losses.loss_cases import prepared_loss
from trainables.loss_composition.batch import Batch

NAME = "probability_driven"


def test_training_starts_from_the_initial_numbers():
    default = prepared_loss(NAME, num_classes=6)
    assert dict(default.named_parameters()) == {"scale": 10.0, "offset": -5.0}
    loss = prepared_loss(NAME, num_classes=6, initial_scale=3.0, initial_offset=-2.0)
    assert dict(loss.named_parameters()) == {"scale": 3.0, "offset": -2.0}


def test_the_threshold_moves_between_the_two_sides():
    # All positives lie at cosine 1, all negatives at cosine 0.
    x, labels = torch.eye(6).repeat_interleave(2, dim=0), torch.arange(6).repeat_interleave(2)
    loss = prepared_loss(NAME, num_classes=6, initial_scale=1.0, initial_offset=3.0)
    optimiser = torch.optim.Adam(loss.parameters(), lr=0.1)
    for _ in range(500):
        optimiser.zero_grad()
        loss(Batch.of(x, labels)).value.backward()
        optimiser.step()
    assert 0.2 < -loss.offset / loss.scale < 0.8
