import pytest
import torch
from torch.nn.functional import normalize

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.losses.contrastive import Contrastive

LABELS = torch.tensor([0, 0, 1, 1])


def embeddings(dtype):
    return torch.randn(4, 8, generator=torch.Generator().manual_seed(0)).to(dtype)


def test_embeddings_are_divided_by_their_lengths():
    x = embeddings(torch.float32)
    assert torch.equal(Batch.of(x, LABELS).normalised_BD, normalize(x, dim=1))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_zero_embedding_stays_zero_and_gets_no_gradient_by_its_direction(dtype):
    x = embeddings(dtype)
    x[1] = 0.0
    x.requires_grad_()
    batch = Batch.of(x, LABELS)
    assert (batch.normalised_BD[1] == 0.0).all()
    Contrastive()(batch).value.backward()
    assert (x.grad[1] == 0.0).all()
    assert (x.grad[2] != 0.0).any()
