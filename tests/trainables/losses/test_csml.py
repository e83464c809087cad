import torch

from tests.trainables.losses.loss_cases import BATCHES
from trainables.loss_composition.batch import Batch, References
from trainables.losses.contrastive import Contrastive
from trainables.losses.csml import CSML


def test_it_is_the_contrastive_loss_whose_margin_no_negative_reaches():
    x, labels, _ = BATCHES["unbalanced"]
    batch = Batch.of(x.double(), labels)
    torch.testing.assert_close(CSML()(batch).value + 1.0, Contrastive(margin=-1.0)(batch).value)


def test_references_that_are_the_batch_count_every_sample_as_its_own_positive():
    x, labels, _ = BATCHES["balanced"]
    batch = Batch.of(x.double(), labels)
    S = batch.normalised_BD @ batch.normalised_BD.T
    same = labels[:, None] == labels
    references = References(batch.embeddings_BD, batch.normalised_BD, labels)
    output = CSML(negative_weight=3.0)(batch._replace(references=references))
    torch.testing.assert_close(output.value, 3.0 * S[~same].mean() - S[same].mean())


def test_empty_places_of_a_memory_are_no_partners():
    x, labels, _ = BATCHES["balanced"]
    batch = Batch.of(x, labels)
    empty = References(batch.embeddings_BD, batch.normalised_BD, torch.full_like(labels, -1))
    output = CSML()(batch._replace(references=empty))
    assert output.value == output.active_fraction == 0.0
