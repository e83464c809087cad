"""Active fractions, which oracles do not have, worked out by hand beside the values."""

import math

import pytest
import torch

from tests.trainables.losses.loss_cases import full_batch, prepared_loss
from tests.trainables.losses.one_anchor import one_anchor


def points(*rows, labels):
    return full_batch(torch.tensor(rows, dtype=torch.float64), torch.tensor(labels))


def anchor(positives, negatives):
    return one_anchor(positives=positives, negatives=negatives)[1]


ROOT = 0.75**0.5
ALL = {"miner": "all_triplets"}
# At 0, 60 and 90 degrees: cosines 1/2 within the class, 0 and ROOT to the negative.
THIRDS = points([1.0, 0.0], [0.5, ROOT], [0.0, 1.0], labels=[0, 0, 1])
NEAR = 2.0 * math.sin(math.radians(15.0))  # distance of the last two
# Two at a right angle, and the negative opposite to the first or to the second.
BEHIND_FIRST = points([1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], labels=[0, 0, 1])
BEHIND_SECOND = points([1.0, 0.0], [0.0, 1.0], [0.0, -1.0], labels=[0, 0, 1])
AXES = [[1.0, 0.0], [0.0, 1.0]]
# One pair at a right angle, one sample of each of two classes, opposite: D2_ij = 2, D2_kl = 4.
OPPOSITE = points(*AXES, [0.6, -0.8], [-0.6, 0.8], labels=[0, 0, 1, 2])
HINGES = [2.0 - (2.0 - 2.0 * S) + 0.5 for S in (0.6, 0.8)]
# With 0.6 and 0.8 to the second: the pull of 0.6, and pushes of the negative at 0 and at 0.8.
PULL, *PUSHES = -2.0 * 0.65 * (0.6 - 0.75), 2.0 * 0.25 * (0.0 - 0.25), 2.0 * 1.05 * (0.8 - 0.25)

CASES = [
    ("triplet", {"margin": 0.4, **ALL}, THIRDS, ROOT - 0.1, 0.5),
    # Both triplets pull; only that of 60 degrees pushes.
    (
        "margin",
        {"margin": 0.5, "beta": 0.75, "nu": 0.1, **ALL},
        THIRDS,
        (2 * (1.0 - 0.75 + 0.5) + (0.75 - NEAR + 0.5) + 2 * 0.1 * 0.75) / 3,
        3 / 4,
    ),
    (
        "margin_cosine",
        {"margin": 0.2, "beta": 0.4, **ALL},
        THIRDS,
        (2 * (0.2 + 0.4 - 0.5) + (0.2 + ROOT - 0.4)) / 3,
        3 / 4,
    ),
    # The third image has no positive, but counts among the anchors.
    ("lifted_structure", {"margin": 0.3, "epsilon": 2.0}, THIRDS, (ROOT - 0.2) / 3, 1 / 2),
    (
        "sup_con",
        {"temperature": 0.5},
        THIRDS,
        (math.log1p(math.exp(-1.0)) + math.log1p(math.exp(2.0 * ROOT - 1.0))) / 3,
        2 / 3,
    ),
    (
        "circle",
        {"gamma": 2.0, "margin": 0.25},
        points([1.0, 0.0], [0.6, 0.8], [0.0, 1.0], labels=[0, 0, 1]),
        sum(math.log1p(math.exp(PULL + push)) for push in PUSHES) / 3,
        2 / 3,
    ),
    # The first negative is sqrt(2) away, the other exactly at the margin.
    (
        "contrastive_l2",
        {"positive_margin": 0.0, "negative_margin": 2.0},
        BEHIND_FIRST,
        2.0 + (2.0 - 2.0**0.5) ** 2,
        4 / 6,
    ),
    ("dr_triplet", {"margin": 2.5, "gamma": 1.0, **ALL}, BEHIND_SECOND, 2.5, 0.5),
    # 4 triplets, half of them open, and the pair either way round with (k, l) either way round.
    (
        "quadruplet",
        {"triplet_margin": 0.5, "quadruplet_margin": 2.5},
        OPPOSITE,
        sum(HINGES) / 2 + 0.5,
        (2 + 4) / (4 + 4),
    ),
    (
        "quadruplet",
        {"triplet_margin": 0.5, "quadruplet_margin": 1.5},
        OPPOSITE,
        sum(HINGES) / 2,
        2 / 8,
    ),
    # Means 0.7 and 0.2: positives should be above 0.63, negatives below 0.24.
    (
        "intra_pair_variance",
        {"positive_slack": 0.1, "negative_slack": 0.2},
        anchor([0.5, 0.9], [0.1, 0.3]),
        (0.13**2 + 0.06**2) / 2,
        2 / 4,
    ),
    ("fast_ap", {"bins": 10}, anchor([0.9, 0.95], [0.0, -0.5]), 0.0, 0.0),
    ("histogram", {"bins": 20}, anchor([0.9, 0.8], [0.0, 0.1, 0.2]), 0.0, 0.0),
    ("histogram", {"bins": 20}, anchor([0.9, 0.0], [0.5, -0.5]), 0.25, 0.5),
]


@pytest.mark.parametrize(("name", "settings", "batch", "value", "active_fraction"), CASES)
def test_a_loss_is_what_it_is_by_hand(name, settings, batch, value, active_fraction):
    loss = prepared_loss(name, num_classes=2, dtype=torch.float64, **settings)
    output = loss(batch)
    assert output.value.item() == pytest.approx(value, rel=1e-6, abs=1e-9)
    assert output.active_fraction.item() == pytest.approx(active_fraction)
