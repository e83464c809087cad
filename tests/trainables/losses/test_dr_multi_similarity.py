import pytest
import torch

from tests.trainables.losses.loss_cases import BATCHES, DIM, embeddings
from trainables.loss_composition.batch import Batch, References
from trainables.losses.dr_multi_similarity import DRMultiSimilarity
from trainables.losses.multi_similarity import MultiSimilarity


def value_and_gradient(loss, x, labels):
    x = x.clone().requires_grad_()
    value = loss(Batch.of(x, labels)).value
    return value.detach(), *torch.autograd.grad(value, x)


@pytest.mark.parametrize("batch_name", BATCHES)
def test_without_weight_on_the_direction_it_is_the_multi_similarity_loss(batch_name):
    x, labels, _ = BATCHES[batch_name]
    torch.testing.assert_close(
        value_and_gradient(DRMultiSimilarity(gamma=0.0), x.double(), labels),
        value_and_gradient(MultiSimilarity(), x.double(), labels),
        rtol=1e-12,
        atol=1e-14,
    )


def test_a_negative_behind_the_positive_weighs_less_than_one_on_the_other_side():
    angles = torch.tensor([0.0, 0.5, 0.6, -0.6], dtype=torch.float64)
    x = torch.stack([angles.cos(), angles.sin()], dim=1)
    labels = torch.tensor([0, 0, 1, 1])

    def value_without(row):
        kept = [i for i in range(4) if i != row]
        loss = DRMultiSimilarity(gamma=0.5, epsilon=2.0)
        # Only the first image is compared, with the others as its partners.
        others = References(x[kept[1:]], x[kept[1:]], labels[kept[1:]])
        return loss(Batch.of(x[:1], labels[:1], references=others)).value

    behind, opposite = value_without(3), value_without(2)
    assert behind < opposite


def test_against_references_it_finds_the_hardest_positive_among_them():
    x = embeddings(12, dtype=torch.float64)
    labels = torch.arange(4).repeat(3)
    batch = Batch.of(x, labels)
    # The batch as its own memory: every image is one more positive of itself, far from hard.
    memory = References(batch.embeddings_BD, batch.normalised_BD, labels)
    loss = DRMultiSimilarity(alpha=1e3, gamma=0.7, epsilon=2.0)
    torch.testing.assert_close(loss(batch._replace(references=memory)).value, loss(batch).value)


def test_a_negative_equal_to_its_anchor_has_no_direction():
    x = embeddings(3, dim=DIM, dtype=torch.float64)[[0, 1, 0]]
    labels = torch.tensor([0, 0, 1])
    _, gradient = value_and_gradient(DRMultiSimilarity(gamma=10.0), x, labels)
    assert gradient.isfinite().all()
