import torch

from tests.trainables.losses.loss_cases import embeddings
from trainables.loss_composition.batch import Batch
from trainables.losses.lifted_song import LiftedSong


def test_hand_computed_on_a_line():
    x = torch.tensor([[0.0], [1.0], [4.0]], dtype=torch.float64)
    output = LiftedSong(margin=2.0)(Batch.of(x, torch.tensor([0, 0, 1])))
    # One positive pair at distance 1, its negatives 4 and 3 away.
    exponentials = torch.tensor([2.0 - 4.0, 2.0 - 3.0], dtype=torch.float64).exp()
    torch.testing.assert_close(output.value, 0.5 * (1.0 + exponentials.sum().log()) ** 2)
    assert output.active_fraction == 1.0


def test_pairs_whose_negatives_are_far_have_no_gradient():
    x = torch.tensor([[0.0], [1.0], [400.0], [401.0]], requires_grad=True)
    output = LiftedSong(margin=2.0)(Batch.of(x, torch.tensor([0, 0, 1, 1])))
    assert output.value == output.active_fraction == 0.0
    assert (torch.autograd.grad(output.value, x)[0] == 0.0).all()


def test_the_loss_reads_the_lengths_of_the_embeddings():
    x = embeddings(8, dtype=torch.float64)
    labels = torch.arange(4).repeat(2)
    values = [LiftedSong()(Batch.of(length * x, labels)).value for length in (1.0, 2.0)]
    assert values[0] != values[1]
