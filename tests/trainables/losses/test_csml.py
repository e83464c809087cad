import torch

from podium.trainables.loss_composition.batch import Batch, References
from podium.trainables.losses.csml import CSML
from tests.trainables.losses.loss_cases import BATCHES


def test_references_that_are_the_batch_count_every_sample_as_its_own_positive():
    x, labels, _ = BATCHES["balanced"]
    batch = Batch.of(x.double(), labels)
    S = batch.normalised_BD @ batch.normalised_BD.T
    same = labels[:, None] == labels
    references = References(batch.embeddings_BD, batch.normalised_BD, labels)
    output = CSML(negative_weight=3.0)(batch._replace(references=references))
    torch.testing.assert_close(output.value, 3.0 * S[~same].mean() - S[same].mean())
