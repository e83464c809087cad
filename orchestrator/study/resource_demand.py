"""What trials occupy, and how much there is: CPUs and GPUs, in parts of one where trials share."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.study.study import Block, ResourceShare, Study

__all__ = ["Capacity", "Demand", "demand_of", "least_demand", "most_demand"]

_ROUNDING = 1e-6  # ten tenths of a GPU are one


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What one trial occupies while it runs."""

    cpus: float
    gpus: float

    def fits_on(self, node: "Demand") -> bool:
        """Whether a node that has so much has room for it when nothing else runs there."""
        return self.cpus <= node.cpus + _ROUNDING and self.gpus <= node.gpus + _ROUNDING

    def times_on(self, node: "Demand") -> float:
        """How many trials run on a node that has so much; a whole number, or infinitely many."""
        pairs = ((node.cpus, self.cpus), (node.gpus, self.gpus))
        times = min((there / asked for there, asked in pairs if asked), default=1.0)
        return times if math.isinf(times) else float(int(times + _ROUNDING))


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What an executor has, or could get, right now.

    Attributes:
        cpus: of all nodes.
        gpus: of all nodes.
        max_trials: upper bound on trials at a time; None for none.
        nodes: what each has, for trials that need one to themselves; empty where nobody knows.
    """

    cpus: float
    gpus: float
    max_trials: int | None = None
    nodes: tuple[Demand, ...] = ()

    def fits(self, demands: Iterable[Demand]) -> bool:
        """Whether all of them run at the same time, if nodes were one machine."""
        given = tuple(demands)
        return (
            sum(demand.cpus for demand in given) <= self.cpus + _ROUNDING
            and sum(demand.gpus for demand in given) <= self.gpus + _ROUNDING
            and (self.max_trials is None or len(given) <= self.max_trials)
        )

    def num_fitting(self, demand: Demand) -> int:
        """How many trials of one kind the nodes have room for as they are now, at least 1.

        What a cluster may yet grow by is not there. Where nobody knows nodes, all is one machine.
        """
        nodes = self.nodes or (Demand(cpus=self.cpus, gpus=self.gpus),)
        there = sum(demand.times_on(node) for node in nodes)
        return max(1, int(there if self.max_trials is None else min(there, self.max_trials)))


def demand_of(study: Study, block: Block) -> Demand:
    """What each trial of a block occupies."""
    return _demand(study, block.backbone)


def least_demand(study: Study) -> Demand:
    """What there must be of each kind before any trial of the study fits."""
    demands = _demands(study)
    return Demand(
        cpus=min(demand.cpus for demand in demands), gpus=min(demand.gpus for demand in demands)
    )


def most_demand(study: Study) -> Demand:
    """What there must be of each kind before every trial of the study fits."""
    demands = _demands(study)
    return Demand(
        cpus=max(demand.cpus for demand in demands), gpus=max(demand.gpus for demand in demands)
    )


def _demands(study: Study) -> list[Demand]:
    return [_demand(study, backbone.name) for backbone in study.backbones]


def _demand(study: Study, backbone: str) -> Demand:
    resources = study.resources
    share = resources.backbones.get(backbone, ResourceShare())
    cpus, gpus = share.cpus_per_trial, share.gpus_per_trial
    return Demand(
        cpus=resources.cpus_per_trial if cpus is None else cpus,
        gpus=resources.gpus_per_trial if gpus is None else gpus,
    )
