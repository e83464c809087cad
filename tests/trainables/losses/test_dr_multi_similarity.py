import torch

from podium.trainables.loss_composition.batch import Batch, References
from podium.trainables.losses.dr_multi_similarity import DRMultiSimilarity
from tests.trainables.losses.loss_cases import DIM, embeddings


def test_against_references_it_finds_the_hardest_positive_among_them():
    x = embeddings(12, dtype=torch.float64)
    labels = torch.arange(4).repeat(3)
    batch = Batch.of(x, labels)
    # The batch as its own memory: every image is one more positive of itself, far from hard.
    memory = References(batch.embeddings_BD, batch.normalised_BD, labels)
    loss = DRMultiSimilarity(alpha=1e3, gamma=0.7, epsilon=2.0)
    torch.testing.assert_close(loss(batch._replace(references=memory)).value, loss(batch).value)


def test_a_negative_equal_to_its_anchor_has_no_direction():
    x = embeddings(3, dim=DIM, dtype=torch.float64)[[0, 1, 0]].requires_grad_()
    value = DRMultiSimilarity(gamma=10.0)(Batch.of(x, torch.tensor([0, 0, 1]))).value
    (gradient,) = torch.autograd.grad(value, x)
    assert gradient.isfinite().all()
