"""What an image costs a trial, under which conditions, and what that says of other conditions.

A cost that was measured under other conditions is scaled, and its interval widened, by rules of
thumb that `cost_under` states. Of several costs the one that is widened least counts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from orchestrator.study.blocks import dataset_of
from orchestrator.study.configs import training_of
from orchestrator.study.dataset_facts import dataset_facts
from orchestrator.study.resource_demand import demand_of
from orchestrator.study.study import Block, Study
from trainables.network.backbone_facts import backbone_facts
from trainables.settings.frozen_feature_rules import FROZEN_FEATURES

CostSource = Literal["probe", "machine", "shipped"]
"""``probe``: an epoch that was trained for this plan; ``machine``: earlier runs that were started
on this machine; ``shipped``: measured by podium's authors, elsewhere."""

Device = Literal["cpu", "gpu"]

TOGETHER = "frozen_features, together"
"""Mode of trials of a population: what an image costs each of them."""

_FROZEN = (FROZEN_FEATURES, TOGETHER)

_UNKNOWN_NETWORK = "resnet50"  # what a network of somebody else is taken for
_SIDE = 224  # of the images that multiplications of networks are counted for
_LEAST_GIGA = 1e-3  # below it, and of vectors, other things take the time

# Factors by which the interval is widened, downwards and upwards.
_WIDENED: dict[CostSource, float] = {"probe": 1.25, "machine": 1.25, "shipped": 3.0}
_OTHER_PRECISION = 2.0
_OTHER_DEVICE = 10.0
_UNKNOWN = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What the cost of an image depends on most.

    Attributes:
        backbone: name of the network.
        side: height and width of images in pixels; None of vectors.
        mode: ``fine_tune``, ``frozen_features`` or `TOGETHER`.
        device: where the network is.
        precision: ``float32`` or ``bf16``.
        share: part of a GPU, or number of CPUs, that a trial occupies.
    """

    backbone: str
    side: int | None
    mode: str
    device: Device
    precision: str
    share: float

    @property
    def giga_multiply_adds(self) -> float:
        """Of one image in a forward pass of the network, in 10^9; 0 of vectors.

        They grow with the number of pixels, which is close for convolutions.
        """
        facts = backbone_facts(self.backbone) or backbone_facts(_UNKNOWN_NETWORK)
        assert facts is not None, "podium knows its own networks"
        return facts.giga_multiply_adds * ((self.side or 0) / _SIDE) ** 2

    def __str__(self) -> str:
        """``resnet50 at 224 px, bf16, on 0.25 GPU``."""
        side = "" if self.side is None else f" at {self.side} px"
        frozen = {FROZEN_FEATURES: ", frozen features", TOGETHER: ", many heads at once"}.get(
            self.mode, ""
        )
        precision = "" if self.precision == "float32" else f", {self.precision}"
        return f"{self.backbone}{side}{frozen}{precision}, on {self.share:g} {self.device.upper()}"


def conditions_of(study: Study, block: Block, device: Device | None = None) -> Conditions:
    """The conditions under which trials of a block run.

    Args:
        study: the study.
        block: one of its blocks.
        device: where they run; None for where the study asks them to.
    """
    training, demand = training_of(study, block), demand_of(study, block)
    where = device or ("gpu" if demand.gpus else "cpu")
    return Conditions(
        backbone=block.backbone,
        side=block.image_size or dataset_facts(dataset_of(study, block)).side,
        mode=training.mode,
        device=where,
        precision=training.precision,
        share=(demand.gpus if where == "gpu" else demand.cpus) or 1.0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageCost:
    """Seconds of an image under one set of conditions.

    Attributes:
        conditions: what was measured.
        low: seconds of a trained image, 10th percentile over trials. A validated image counts as
            a part of a trained one (`orchestrator.planning.image_counts`).
        median: the median of it.
        high: the 90th percentile.
        tested: seconds of a tested image with all metrics, the median; None if not measured.
        trials: number of trials.
        source: who measured it.
        day: the day of the measurement, as 2026-11-23.
        hardware: what it was measured on; empty if it was here.
    """

    conditions: Conditions
    low: float
    median: float
    high: float
    tested: float | None
    trials: int
    source: CostSource
    day: str = ""
    hardware: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """A cost under conditions in which it need not have been measured.

    Attributes:
        cost: the cost, as far as it is known: its conditions are those asked for.
        measured: the cost that was measured.
        widened: factor by which the interval was widened to both sides, for all that differs.
    """

    cost: ImageCost
    measured: ImageCost
    widened: float

    @property
    def is_scaled(self) -> bool:
        """Whether it was measured under other conditions."""
        return self.cost.conditions != self.measured.conditions


def cost_under(wanted: Conditions, known: Sequence[ImageCost]) -> CostEstimate | None:
    """What an image costs under the wanted conditions, by the known cost that is nearest to them.

    Each known cost is scaled, and its interval widened by factors whose logarithms add up in
    squares, as those of errors that have nothing to do with each other:

    - network and image size: scaled by the ratio of multiplications, widened by its cube root. No
      image takes less than is known of one with no more multiplications on its device;
    - part of the device: by the root of the ratio of the parts, widened by the same: between
      trials that do not feel each other and trials that wait for each other all the time;
    - another precision widens by 2, another device by 10, a network that podium does not know,
      which is taken for a ResNet-50, by 3;
    - a probe and earlier runs here widen by 1.25, since other losses and a machine that has other
      work take other times; what was measured elsewhere by 3.

    Where the network is frozen nothing depends on it. Of costs that are widened alike the
    first counts.

    Args:
        wanted: the conditions.
        known: costs, the best source first, and of one source the newest first.

    Returns:
        None if nothing is known of the mode.
    """
    found = [_scaled(cost, wanted) for cost in known if cost.conditions.mode == wanted.mode]
    if not found:
        return None
    best = min(found, key=lambda estimate: estimate.widened)
    return _at_least_smaller_ones(best, known)


def _scaled(cost: ImageCost, wanted: Conditions) -> CostEstimate:
    measured = cost.conditions
    ratio, factors = 1.0, [_WIDENED[cost.source]]
    is_other = (wanted.backbone, wanted.side) != (measured.backbone, measured.side)
    if is_other and wanted.mode not in _FROZEN:
        ratio = _ratio(wanted.giga_multiply_adds, measured.giga_multiply_adds)
        factors.append(ratio ** (1 / 3))
        factors.append(1.0 if backbone_facts(wanted.backbone) else _UNKNOWN)
    factors.append(1.0 if wanted.precision == measured.precision else _OTHER_PRECISION)
    if wanted.device == measured.device:
        waiting = math.sqrt(measured.share / wanted.share)
        ratio *= waiting
        factors.append(waiting)
    else:
        factors.append(_OTHER_DEVICE)
    median = cost.median * ratio
    return CostEstimate(
        cost=replace(
            cost,
            conditions=wanted,
            low=median / _joined(*factors, cost.median / cost.low),
            median=median,
            high=median * _joined(*factors, cost.high / cost.median),
            tested=None if cost.tested is None else cost.tested * ratio,
        ),
        measured=cost,
        widened=_joined(*factors),
    )


def _joined(*factors: float) -> float:
    """One factor of at least 1 in place of independent ones, which may be below it."""
    return math.exp(math.hypot(*map(math.log, factors)))


def _ratio(wanted: float, measured: float) -> float:
    return max(wanted, _LEAST_GIGA) / max(measured, _LEAST_GIGA)


def _at_least_smaller_ones(estimate: CostEstimate, known: Sequence[ImageCost]) -> CostEstimate:
    """A scaled cost, raised to what smaller networks take: on a GPU they wait for commands."""
    cost, wanted = estimate.cost, estimate.cost.conditions
    smaller = [
        other.median
        for other in known
        if (other.conditions.device, other.conditions.mode) == (wanted.device, wanted.mode)
        and _ratio(wanted.giga_multiply_adds, other.conditions.giga_multiply_adds) >= 1
    ]
    least = min(smaller, default=0.0)
    if not estimate.is_scaled or cost.median >= least:
        return estimate
    raised = replace(cost, median=least, high=max(cost.high, least * estimate.widened))
    return replace(estimate, cost=raised)


def sources_of(estimates: Sequence[CostEstimate]) -> tuple[CostSource, ...]:
    """Whose figures estimates come from, each once, the best first."""
    found = {estimate.measured.source for estimate in estimates}
    return tuple(source for source in get_args(CostSource) if source in found)
