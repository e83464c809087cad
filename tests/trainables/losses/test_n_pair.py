import torch
from pytorch_metric_learning.distances import DotProductSimilarity
from pytorch_metric_learning.losses import NPairsLoss

from podium.trainables.loss_composition.batch import Batch, References
from podium.trainables.losses.n_pair import NPair
from tests.trainables.losses.loss_cases import embeddings

NUM_CLASSES = 7


def their_n_pairs(x, labels):
    return NPairsLoss(distance=DotProductSimilarity(normalize_embeddings=False))(x, labels)


def value_and_gradient(function, x):
    x = x.clone().requires_grad_()
    value = function(x)
    return value.detach(), *torch.autograd.grad(value, x)


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
