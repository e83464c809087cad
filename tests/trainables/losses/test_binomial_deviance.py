import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.losses.binomial_deviance import BinomialDeviance
from tests.trainables.losses.loss_cases import BATCHES


def test_as_it_sharpens_the_step_becomes_a_hinge():
    x, labels, _ = BATCHES["clustered"]
    batch = Batch.of(x.double(), labels)
    cosine = batch.normalised_BD @ batch.normalised_BD.T
    same = labels[:, None] == labels
    itself = torch.eye(len(labels), dtype=torch.bool)
    hinges = (
        torch.relu(0.5 - cosine)[same & ~itself].mean() + torch.relu(cosine - 0.5)[~same].mean()
    )
    sharp = BinomialDeviance(alpha=1e3, margin=0.5, negative_weight=1.0)(batch).value
    torch.testing.assert_close(sharp / 1e3, hinges, rtol=0.0, atol=2e-3)
