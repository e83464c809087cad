import math

import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.losses.structural import Structural
from tests.trainables.losses.loss_cases import BATCHES, on_circle


def test_one_positive_pair_by_hand():
    # Squared distances: 1 within the class (60 degrees), 2 and 3 to the negative (90 and 120).
    batch = Batch.of(on_circle(0.0, 60.0, -90.0), torch.tensor([0, 0, 1]))
    batch = batch._replace(normalised_BD=on_circle(0.0, 60.0, -90.0))
    gaps = [1.0 - 2.0, 1.0 - (2.0 - 2.0 * math.cos(math.radians(150.0)))]
    ranking = sum(math.log1p(math.exp((gap + 0.3) / 0.7)) for gap in gaps) / 2.0
    free = {"positive_variance": 4.0, "negative_variance": 4.0}
    value = Structural(margin=0.3, temperature=0.7, **free)(batch).value
    assert math.isclose(value, ranking)
    # Deviation of the two negative distances from their mean; positives have none.
    deviation = (gaps[0] - gaps[1]) / 2.0
    bounded = Structural(
        margin=0.3,
        temperature=0.7,
        variance_weight=3.0,
        positive_variance=0.0,
        negative_variance=0.1,
    )
    expected = ranking + 1.5 * (deviation**2 - 0.1)
    assert math.isclose(bounded(batch).value, expected)


def test_the_share_of_active_pairs_is_that_of_anchors_with_negatives():
    for name, expected in (("balanced", 1.0), ("one class", 0.0), ("no positives", 0.0)):
        x, labels, _ = BATCHES[name]
        assert Structural()(Batch.of(x, labels)).active_fraction == expected
