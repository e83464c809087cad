"""CPUs and GPUs that trials occupy and that executors have; fractions where trials share one."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from podium.orchestrator.study.study import Study

# MiB that a process holds of a GPU beside torch's own memory: 600 to 700 on an H100.
CONTEXT_MB = 768.0

_ROUNDING = 1e-6  # ten tenths of a GPU are one


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """CPUs and GPUs that one trial occupies while it runs, or that one node has.

    Attributes:
        share: part of a worker slot: of a member of a population less than 1.
    """

    cpus: float
    gpus: float
    share: float = 1.0

    @property
    def is_member(self) -> bool:
        """Whether it is the part of a slot that a member of a population occupies."""
        return self.share < 1.0

    @property
    def num_members(self) -> int:
        """Number of such parts that a slot has room for; 1 of a whole one."""
        return round(1 / self.share)

    def part(self, num_members: int) -> "Demand":
        """What each of so many members occupies that are in this slot together."""
        return Demand(
            cpus=self.cpus / num_members,
            gpus=self.gpus / num_members,
            share=self.share / num_members,
        )

    @property
    def whole(self) -> "Demand":
        """The slot of which this is a part."""
        return Demand(cpus=self.cpus / self.share, gpus=self.gpus / self.share)

    def fits_on(self, node: "Demand") -> bool:
        """Whether the trial fits on an otherwise idle node with these resources."""
        return self.cpus <= node.cpus + _ROUNDING and self.gpus <= node.gpus + _ROUNDING

    def _num_on(self, node: "Demand") -> float:
        """How many such trials fit on an idle node: a whole number, or infinity."""
        pairs = ((node.cpus, self.cpus), (node.gpus, self.gpus))
        times = min((there / needed for there, needed in pairs if needed), default=1.0)
        return times if math.isinf(times) else float(int(times + _ROUNDING))


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What an executor has, or could get, right now.

    Attributes:
        cpus: CPUs of all nodes together.
        gpus: GPUs of all nodes together.
        max_trials: upper bound on trials at a time, of which a population is one; None for no
            bound.
        nodes: resources of each node; empty if unknown.
    """

    cpus: float
    gpus: float
    max_trials: int | None = None
    nodes: tuple[Demand, ...] = ()

    def fits(self, counts: Mapping[Demand, int]) -> bool:
        """Whether so many trials of each demand fit at a time, the nodes taken as one machine."""
        given, most = counts.items(), math.inf if self.max_trials is None else self.max_trials
        return (
            sum(demand.cpus * count for demand, count in given) <= self.cpus + _ROUNDING
            and sum(demand.gpus * count for demand, count in given) <= self.gpus + _ROUNDING
            and sum(demand.share * count for demand, count in given) <= most + _ROUNDING
        )

    def at_most(self, num_trials: int | None) -> "Capacity":
        """The same for at most so many trials at a time; None adds no bound."""
        bounds = [bound for bound in (self.max_trials, num_trials) if bound is not None]
        return replace(self, max_trials=min(bounds, default=None))

    def num_fitting(self, demand: Demand) -> int:
        """How many trials with this demand fit on the present nodes, at least 1.

        Nodes that a cluster may still add do not count. If nodes are unknown, all is one machine.
        """
        nodes = self.nodes or (Demand(cpus=self.cpus, gpus=self.gpus),)
        there = sum(demand._num_on(node) for node in nodes)
        return max(1, int(there if self.max_trials is None else min(there, self.max_trials)))


def demand_of(study: Study) -> Demand:
    """CPUs and GPUs of each trial of the study."""
    resources = study.resources
    return Demand(cpus=resources.cpus_per_trial, gpus=resources.gpus_per_trial)
