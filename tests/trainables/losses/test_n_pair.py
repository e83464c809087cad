import pytest
import torch
from pytorch_metric_learning.distances import DotProductSimilarity
from pytorch_metric_learning.losses import NPairsLoss

from benchmarks.twins.n_pair import twin
from podium.trainables.loss_composition.batch import Batch, References
from podium.trainables.losses.n_pair import NPair
from podium.trainables.losses.n_pair_l2 import NPairL2
from tests.trainables.losses.loss_cases import BATCHES, DIM, embeddings

NUM_CLASSES = 7


def their_n_pairs(x, labels):
    return NPairsLoss(distance=DotProductSimilarity(normalize_embeddings=False))(x, labels)


def value_and_gradient(function, x):
    x = x.clone().requires_grad_()
    value = function(x)
    return value.detach(), *torch.autograd.grad(value, x)


@pytest.mark.parametrize("batch_name", ["balanced", "unbalanced", "clustered"])
@pytest.mark.parametrize("norm_weight", [0.0, 0.5])
def test_value_and_gradient_equal_those_of_the_twin(batch_name, norm_weight):
    x, labels, num_classes = BATCHES[batch_name]
    loss = NPair(norm_weight=norm_weight)
    theirs = twin(loss, num_classes, DIM)
    torch.testing.assert_close(
        value_and_gradient(lambda x: loss(Batch.of(x, labels)).value, x.double()),
        value_and_gradient(lambda x: theirs(x, labels), x.double()),
        rtol=1e-7,
        atol=1e-9,
    )


def test_against_the_partners_of_two_images_a_class_it_is_the_loss_of_the_paper():
    x = embeddings(2 * NUM_CLASSES, dtype=torch.float64)
    labels = torch.arange(NUM_CLASSES)

    def ours(x):
        partners = References(x[NUM_CLASSES:], x[NUM_CLASSES:], labels)
        return NPair(norm_weight=0.0)(Batch.of(x[:NUM_CLASSES], labels, references=partners)).value

    torch.testing.assert_close(
        value_and_gradient(ours, x),
        value_and_gradient(lambda x: their_n_pairs(x, labels.repeat(2)), x),
    )


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
