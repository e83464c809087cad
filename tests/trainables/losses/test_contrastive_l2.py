import torch
from pytorch_metric_learning.distances import LpDistance
from pytorch_metric_learning.losses import ContrastiveLoss
from pytorch_metric_learning.reducers import DoNothingReducer

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.losses.contrastive_l2 import ContrastiveL2
from tests.trainables.losses.loss_cases import BATCHES


def test_its_pairs_are_those_of_the_linear_hinge_squared():
    x, labels, _ = BATCHES["clustered"]
    linear = ContrastiveLoss(
        pos_margin=0.3, neg_margin=1.2, distance=LpDistance(), reducer=DoNothingReducer()
    )(x.double(), labels)
    hinges = (linear["pos_loss"]["losses"], linear["neg_loss"]["losses"])
    expected = sum(hinge[hinge > 0.0].square().mean() for hinge in hinges)
    output = ContrastiveL2(positive_margin=0.3, negative_margin=1.2)(Batch.of(x.double(), labels))
    torch.testing.assert_close(output.value, expected)
    num_active = sum((hinge > 0.0).sum() for hinge in hinges)
    torch.testing.assert_close(output.active_fraction, num_active / sum(map(len, hinges)))
