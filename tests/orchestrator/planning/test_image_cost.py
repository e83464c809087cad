"""A known cost is scaled to other conditions, and the interval says how far it was."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.planning.image_cost import Conditions, ImageCost, cost_under
from trainables.network.backbone_facts import backbone_facts
from trainables.registry import names

RESNET = Conditions(
    backbone="resnet50",
    side=224,
    mode="fine_tune",
    device="gpu",
    precision="float32",
    share=1.0,
)
HERE = ImageCost(
    conditions=RESNET,
    low=0.8,
    median=1.0,
    high=1.5,
    tested=0.5,
    trials=9,
    source="machine",
)


def under(known=HERE, *others, **changes):
    return cost_under(replace(RESNET, **changes), (known, *others))


def ends(estimate):
    return estimate.cost.low, estimate.cost.median, estimate.cost.high


def factor(*factors):
    """Independent factors as one: the root of the sum of squares of their logarithms."""
    return math.exp(sum(math.log(each) ** 2 for each in factors) ** 0.5)


def test_under_the_same_conditions_the_measured_cost_is_widened_by_its_source_alone():
    low, high = factor(1 / 0.8, 1.25), factor(1.5, 1.25)
    assert ends(under()) == pytest.approx((1 / low, 1.0, high))
    low, high = factor(1 / 0.8, 3), factor(1.5, 3)
    assert ends(under(replace(HERE, source="shipped"))) == pytest.approx((1 / low, 1.0, high))
    assert not under().is_scaled


def test_another_network_or_size_costs_by_its_multiplications():
    half = under(side=112)
    assert half.is_scaled
    assert half.cost.tested == pytest.approx(0.5 / 4)
    # By hand: a quarter of the pixels, widened by the cube root of 4.
    low, high = factor(1 / 0.8, 1.25, 4 ** (1 / 3)), factor(1.5, 1.25, 4 ** (1 / 3))
    expected = (0.25 / low, 0.25, 0.25 * high)
    assert ends(half) == pytest.approx(expected)
    resnet18 = backbone_facts("resnet18").giga_multiply_adds
    ratio = resnet18 / backbone_facts("resnet50").giga_multiply_adds
    assert under(backbone="resnet18").cost.median == pytest.approx(ratio)


def test_no_network_is_faster_than_what_is_known_of_a_smaller_one():
    """On a GPU a small network waits for commands: the rule of multiplications says too little."""
    small = replace(RESNET, backbone="conv_small", side=32)
    fast = replace(HERE, conditions=small, low=0.1, median=0.2, high=0.3)
    smaller = cost_under(replace(small, side=16), (HERE, fast)).cost
    assert smaller.median == 0.2
    between = cost_under(replace(RESNET, side=64), (HERE, fast)).cost
    assert between.median == 0.2 > (64 / 224) ** 2
    assert between.low < 0.2 < between.high


def test_a_smaller_share_is_between_free_and_proportional():
    low, median, high = ends(under(replace(HERE, low=1.0, high=1.0), share=0.25))
    assert median == pytest.approx(2.0)
    assert (low, high) == pytest.approx((2.0 / factor(2, 1.25), 2.0 * factor(2, 1.25)))
    assert low < 1.0  # the others are not felt
    assert high > 4.0  # each waits for three others


def test_what_is_measured_nearest_counts_and_here_before_elsewhere():
    conv = replace(HERE, conditions=replace(RESNET, backbone="conv_small", side=32), median=0.9)
    elsewhere = replace(HERE, source="shipped", hardware="an H100", median=0.9)
    assert under(conv, elsewhere).measured is elsewhere  # not conv_small times six thousand
    assert under(HERE, elsewhere).measured is HERE
    probe = replace(HERE, source="probe", conditions=replace(RESNET, side=192))
    assert under(probe, elsewhere).measured is probe
    newer = replace(HERE, median=2.0, high=2.0)
    assert under(newer, HERE).measured is newer


def test_a_frozen_network_costs_what_any_frozen_network_does():
    frozen = replace(HERE, conditions=replace(RESNET, mode="frozen_features", device="cpu"))
    estimate = under(frozen, HERE, mode="frozen_features", backbone="resnet18", device="cpu")
    assert estimate.measured is frozen
    assert estimate.cost.median == 1.0
    assert under(HERE, mode="frozen_features") is None


def test_networks_that_podium_does_not_know_are_taken_for_a_resnet50_and_widened():
    foreign = under(backbone="timm:resnet50d.ra2_in1k")
    assert foreign.cost.median == 1.0
    low, high = factor(1 / 0.8, 1.25, 3), factor(1.5, 1.25, 3)
    assert ends(foreign) == pytest.approx((1 / low, 1.0, high))


@given(
    backbone=st.sampled_from(names("backbones")),
    side=st.one_of(st.none(), st.integers(16, 512)),
    device=st.sampled_from(["cpu", "gpu"]),
    precision=st.sampled_from(["float32", "bf16"]),
    share=st.floats(0.01, 64),
)
def test_every_interval_holds_its_median(backbone, side, device, precision, share):
    changes = {"backbone": backbone, "side": side, "device": device}
    low, median, high = ends(under(precision=precision, share=share, **changes))
    assert 0 < low < median < high < math.inf
