"""What a loss computes in a stack of members against what it computes alone."""

import pytest
import torch
from torch.func import grad, vmap

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.registry import load

MEMBERS, IMAGES, CLASSES, DIM = 12, 64, 52, 32


@pytest.mark.parametrize("centres", [1, 4, 9])
def test_gradients_of_centres_have_the_same_bits_in_a_stack_as_alone(centres):
    """In another order of sums thousands of steps would lead to other embeddings."""
    generator = torch.Generator().manual_seed(0)
    embeddings_PBD = torch.randn(MEMBERS, IMAGES, DIM, generator=generator)
    proxies_PKCD = torch.randn(MEMBERS, centres, CLASSES, DIM, generator=generator)
    labels_B = torch.randint(CLASSES, (IMAGES,), generator=generator)
    reals = {"gamma": 20.0, "tau": 0.2, "margin": 0.01, "scale": 60.0}
    compute = load("losses", "soft_triple").compute

    def loss(embeddings_BD, proxies_KCD):
        batch = Batch.of(embeddings_BD, labels_B=labels_B)
        return compute(batch, {"proxies": proxies_KCD}, {"centres": centres, **reals}).value

    gradients = grad(loss, argnums=(0, 1))
    together = vmap(gradients)(embeddings_PBD, proxies_PKCD)
    alone = zip(*map(gradients, embeddings_PBD, proxies_PKCD), strict=True)
    for stacked, singles in zip(together, alone, strict=True):
        assert torch.equal(stacked, torch.stack(singles))
