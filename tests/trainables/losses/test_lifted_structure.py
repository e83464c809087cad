import pytest
import torch

from tests.trainables.losses.loss_cases import BATCHES, embeddings
from trainables.loss_composition.batch import Batch
from trainables.losses.lifted_structure import LiftedStructure

MARGIN = 0.3


def lifted(x, labels, margin=MARGIN, epsilon=2.0):
    return LiftedStructure(margin=margin, epsilon=epsilon)(Batch.of(x, labels))


def test_with_one_positive_and_one_negative_it_is_the_triplet_loss_on_cosines():
    x = embeddings(3, dtype=torch.float64)
    cosine = torch.nn.functional.cosine_similarity
    triplets = [
        torch.relu(cosine(x[a], x[n], dim=0) - cosine(x[a], x[p], dim=0) + MARGIN)
        for a, p, n in ((0, 1, 2), (1, 0, 2))
    ]
    output = lifted(x, torch.tensor([0, 0, 1]))
    # The third image has no positive and counts among the anchors.
    torch.testing.assert_close(output.value, sum(triplets) / 3)
    assert output.active_fraction == sum(triplet > 0.0 for triplet in triplets) / 2


def test_an_anchor_whose_hinge_is_closed_has_no_gradient():
    x = torch.tensor([[1.0, 0.0], [1.0, 0.1], [-1.0, 0.0], [-1.0, 0.1]], requires_grad=True)
    labels = torch.tensor([0, 0, 1, 1])
    output = lifted(x, labels, margin=0.0)
    assert output.value == output.active_fraction == 0.0
    assert (torch.autograd.grad(output.value, x)[0] == 0.0).all()


@pytest.mark.parametrize("margin", [-10.0, 10.0])
def test_a_margin_that_all_anchors_meet_or_miss_moves_the_value_by_itself(margin):
    x, labels, _ = BATCHES["balanced"]
    output = lifted(x.double(), labels, margin)
    if margin < 0.0:
        assert output.value == output.active_fraction == 0.0
    else:
        beyond = lifted(x.double(), labels, margin - 1.0).value
        torch.testing.assert_close(output.value - beyond, torch.tensor(1.0).double())


def test_hard_pairs_alone_are_those_that_the_multi_similarity_miner_keeps():
    x, labels, _ = BATCHES["balanced"]
    S = torch.nn.functional.cosine_similarity(x.double()[:, None], x.double()[None], dim=-1)
    same = labels[:, None] == labels
    other = same & ~torch.eye(len(labels), dtype=torch.bool)
    least = S.masked_fill(~other, 1.0).amin(1, keepdim=True)
    most = S.masked_fill(same, -1.0).amax(1, keepdim=True)
    pull = (MARGIN - S).exp().where(other & (most > S - 0.1), 0.0).sum(1)
    push = S.exp().where(~same & (least < S + 0.1), 0.0).sum(1)
    expected = (pull * push).clamp(min=1.0).log().mean()
    torch.testing.assert_close(lifted(x.double(), labels, epsilon=0.1).value, expected)


def test_where_every_class_is_apart_no_pair_is_hard():
    x = torch.eye(3).repeat_interleave(2, dim=0)
    labels = torch.arange(3).repeat_interleave(2)
    assert lifted(x, labels, margin=2.0).active_fraction == 1.0
    output = lifted(x, labels, margin=2.0, epsilon=0.5)
    assert output.value == output.active_fraction == 0.0
