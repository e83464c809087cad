import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from tests.trainables.losses.loss_cases import BATCHES, prepared_loss
from trainables.loss_composition.batch import Batch

NAME = "probability_driven"


def test_each_side_is_torchs_binary_cross_entropy():
    x, labels, num_classes = BATCHES["clustered"]
    batch = Batch.of(x.double(), labels)
    loss = prepared_loss(NAME, num_classes=num_classes, dtype=torch.float64)
    log_odds = 10.0 * batch.normalised_BD @ batch.normalised_BD.T - 5.0
    same = labels[:, None] == labels
    positives = log_odds[same & ~torch.eye(len(labels), dtype=torch.bool)]
    expected = sum(
        binary_cross_entropy_with_logits(side, torch.full_like(side, target))
        for side, target in ((positives, 1.0), (log_odds[~same], 0.0))
    )
    torch.testing.assert_close(loss(batch).value, expected)


def test_training_starts_from_the_initial_numbers():
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
