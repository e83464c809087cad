import pytest
import torch

from tests.trainables.losses.loss_cases import BATCHES, embeddings
from trainables.loss_composition.batch import Batch, References
from trainables.losses.n_pair import NPair
from trainables.losses.n_pair_l2 import NPairL2


def value_and_gradient(function, x):
    x = x.clone().requires_grad_()
    value = function(x)
    return value.detach(), *torch.autograd.grad(value, x)


@pytest.mark.parametrize("batch_name", ["balanced", "unbalanced"])
def test_on_embeddings_of_one_length_it_is_the_one_on_products_with_exponents_twice_as_large(
    batch_name,
):
    x, labels, _ = BATCHES[batch_name]

    def on_the_sphere(loss, length):
        def value(x):
            scaled = length * torch.nn.functional.normalize(x)
            return loss(norm_weight=0.0)(Batch.of(scaled, labels)).value

        return value_and_gradient(value, x.double())

    torch.testing.assert_close(on_the_sphere(NPairL2, 3.0), on_the_sphere(NPair, 3.0 * 2.0**0.5))


def test_lengths_count_where_products_do_not_see_them():
    """Along the anchor's direction a longer negative is farther, though its product is larger."""
    x = torch.tensor([[1.0, 0.0], [1.0, 1.0], [4.0, 0.0]], dtype=torch.float64)
    labels = torch.tensor([0, 0, 1])

    def of_the_first(loss):
        anchor = Batch.of(x[:1], labels[:1], references=References(x[1:], x[1:], labels[1:]))
        return loss(norm_weight=0.0)(anchor).value.item()

    softplus = torch.nn.functional.softplus
    assert of_the_first(NPairL2) == pytest.approx(softplus(torch.tensor(1.0 - 9.0)).item())
    assert of_the_first(NPair) == pytest.approx(softplus(torch.tensor(4.0 - 1.0)).item())


def test_the_norms_count_only_where_there_are_pairs():
    x = embeddings(4, dtype=torch.float64)
    batch = Batch.of(x, torch.tensor([0, 0, 1, 2]))
    penalty = NPairL2(norm_weight=1.0)(batch).value - NPairL2(norm_weight=0.0)(batch).value
    torch.testing.assert_close(penalty, x[:2].norm(dim=1).mean())
    assert NPairL2(norm_weight=1.0)(Batch.of(x, torch.arange(4))).value == 0.0
