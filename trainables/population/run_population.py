"""Runs many trials as one population: the only entry point for schedulers of populations."""

import math
from collections.abc import Collection, Container, Iterator, Mapping, Sequence

import torch

from podium.trainables.device import reset_peak_memory, trial_device
from podium.trainables.errors import Collapsed, Diverged
from podium.trainables.population.population_fold import PopulationFold
from podium.trainables.settings.population_agreement import agreement, why_alone
from podium.trainables.settings.trial_settings import TrialSettings
from podium.trainables.trial.fold_run import FoldRun, epochs_of
from podium.trainables.trial.setup import set_up
from podium.trainables.trial_reports import EpochReport

MemberReport = EpochReport | Diverged | Collapsed

# What pays on a processor (`benchmarks/RESULTS.md`). A large head is bound by memory: there is
# nothing to share, and its optimiser goes over the weights once where that of many needs several
# turns. Nor is there where a loss computes large tensors, such as a number for each triplet, or
# for each sample and each centre of many classes. Beyond what caches hold of weights, gradients
# and moments each of these waits for memory.
_LARGE_BYTES = 2**20
_LARGE_LOSS_BYTES = 2**18
_CACHED_BYTES = 2**25
_TENSORS = 4  # the size of the weights: with the gradient and two moments


class Population:
    """Trials of one agreement, epoch by epoch and fold by fold, each like a trial alone.

    A member that fails or is dropped costs nothing once half of the members are gone: those that
    are left move into a population of half the size. Members have any keys.

    Raises:
        TrialInputError: settings or data are unusable, or the trials do not go together.
    """

    def __init__(self, trials: Mapping[str, TrialSettings]) -> None:
        reasons = {reason for settings in trials.values() if (reason := why_alone(settings))}
        assert not reasons, f"such trials are run alone: {reasons}"
        assert len(set(map(agreement, trials.values()))) == 1, "members agree"
        self._setups = {key: set_up(settings) for key, settings in trials.items()}
        self._device = trial_device()
        reset_peak_memory(self._device)
        first = next(iter(self._setups.values()))
        self._left = [(fold, epoch) for fold in first.settings.folds for epoch in epochs_of(first)]
        self._parts: list[_Part] = []

    @property
    def members(self) -> tuple[str, ...]:
        """Who is still trained; none once the last epoch of the last fold is over."""
        return tuple(self._setups) if self._left else ()

    def drop(self, members: Collection[str]) -> None:
        """Train some members no further."""
        for member in members:
            self._setups.pop(member, None)

    def step(self) -> dict[str, MemberReport]:
        """Train and validate all members for an epoch.

        Returns:
            Member -> its report, or why there is none; who failed is dropped.
        """
        fold, epoch = self._left.pop(0)
        if epoch == 1:
            self._parts = list(self._fresh_parts(fold))
        reports: dict[str, MemberReport] = {}
        for part in self._parts:
            reports |= part.run_epoch(epoch, self._setups)
        found = {member: reports[member] for member in self._setups}
        self.drop([member for member, report in found.items() if isinstance(report, Exception)])
        return found

    def _fresh_parts(self, fold: int) -> Iterator["_Part"]:
        members, setups = list(self._setups), list(self._setups.values())
        whole = PopulationFold(setups, fold, self._device)
        at_once = members_at_once(whole, self._device)
        if at_once == 1:
            for member, setup in self._setups.items():
                yield _Part((member,), _Alone(FoldRun(setup, fold, self._device)))
            return
        num_parts = math.ceil(len(members) / at_once)
        for number in range(num_parts):  # of sizes that differ by one at most
            first, end = (len(members) * it // num_parts for it in (number, number + 1))
            yield _Part(members[first:end], whole.part(range(first, end)))


class _Part:
    """Members of a population that are trained at once."""

    def __init__(self, members: Sequence[str], stacked: "PopulationFold | _Alone") -> None:
        self.members, self._stacked = tuple(members), stacked

    def run_epoch(self, epoch: int, living: Container[str]) -> dict[str, MemberReport]:
        """Reports of its members; those that no longer live are left out, or carried along."""
        left = tuple(member for member in self.members if member in living)
        if not left:
            return {}
        if isinstance(self._stacked, PopulationFold) and 2 * len(left) <= len(self.members):
            self._stacked.keep([self.members.index(member) for member in left])
            self.members = left
        return dict(zip(self.members, self._stacked.run_epoch(epoch), strict=True))


class _Alone:
    """A member that is trained as a trial alone is."""

    def __init__(self, fold: FoldRun) -> None:
        self._fold = fold

    def run_epoch(self, epoch: int) -> list[MemberReport]:
        try:
            return [self._fold.run_epoch(epoch)]
        except (Diverged, Collapsed) as failure:
            return [failure]


def members_at_once(whole: PopulationFold, device: torch.device) -> int:
    """How many members are trained at once, so that none is slower for it; 1 if each is alone.

    A GPU takes them all: what members have in common there is the time of launches.
    """
    if device.type != "cpu":
        return len(whole)
    if whole.bytes_of_member > _LARGE_BYTES or whole.bytes_of_loss > _LARGE_LOSS_BYTES:
        return 1
    return max(1, _CACHED_BYTES // (_TENSORS * whole.bytes_of_member))
