import pytest
import torch

from tests.trainables.losses.loss_cases import BATCHES
from tests.trainables.losses.one_anchor import one_anchor
from trainables.loss_composition.batch import Batch
from trainables.losses.intra_pair_variance import IntraPairVariance


def test_hand_computed_for_one_anchor():
    _, batch = one_anchor(positives=[0.5, 0.9], negatives=[0.1, 0.3])
    output = IntraPairVariance(positive_slack=0.1, negative_slack=0.2)(batch)
    # Means 0.7 and 0.2: positives should be above 0.63, negatives below 0.24.
    assert output.value.item() == pytest.approx((0.13**2 + 0.06**2) / 2)
    assert output.active_fraction.item() == pytest.approx(2 / 4)


def test_without_slack_it_is_half_the_variances_where_cosines_lie_evenly_about_their_means():
    _, batch = one_anchor(positives=[0.5, 0.7, 0.9], negatives=[-0.2, 0.0, 0.2])
    output = IntraPairVariance(positive_slack=0.0, negative_slack=0.0)(batch)
    variances = [
        torch.tensor(values).var(correction=0) for values in ([0.5, 0.7, 0.9], [0.2, 0.0, -0.2])
    ]
    assert output.value.item() == pytest.approx(float(sum(variances)) / 2)


def test_equal_cosines_of_each_kind_cost_nothing():
    """However similar the classes are."""
    axes = torch.eye(3, dtype=torch.float64) + 0.5
    output = IntraPairVariance()(
        Batch.of(axes.repeat_interleave(2, 0), torch.arange(3).repeat_interleave(2))
    )
    assert output.value == output.active_fraction == 0.0
    assert IntraPairVariance()(Batch.of(*BATCHES["balanced"][:2])).value > 0.0
