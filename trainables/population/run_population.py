"""Runs many trials as one population: the only entry point for schedulers of populations."""

from collections.abc import Collection, Mapping, Sequence

from trainables.device import reset_peak_memory, trial_device
from trainables.errors import Collapsed, Diverged
from trainables.population.population_fold import PopulationFold
from trainables.settings.population_agreement import agreement, why_alone
from trainables.settings.trial_settings import TrialSettings
from trainables.trial.fold_run import epochs_of
from trainables.trial.setup import TrialSetup, set_up
from trainables.trial_reports import EpochReport

MemberReport = EpochReport | Diverged | Collapsed


class Population:
    """Trials of one agreement, epoch by epoch and fold by fold, each like a trial alone.

    A member that fails or is dropped costs nothing once half of the members are gone: those that
    are left move into a population of half the size.

    Args:
        trials: settings of the members, by any key.

    Raises:
        TrialInputError: settings or data are unusable, or the trials do not go together.
    """

    def __init__(self, trials: Mapping[str, TrialSettings]) -> None:
        _check(tuple(trials.values()))
        self._setups = {key: set_up(settings) for key, settings in trials.items()}
        self._device = trial_device()
        reset_peak_memory(self._device)
        first = next(iter(self._setups.values()))
        self._left = [(fold, epoch) for fold in first.settings.folds for epoch in epochs_of(first)]
        self._stacked: list[str] = []
        self._fold: PopulationFold | None = None

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
        stacked = self._stacked_in(fold, is_first=epoch == 1)
        reports = dict(zip(self._stacked, stacked.run_epoch(epoch), strict=True))
        found = {member: reports[member] for member in self._setups}
        self.drop([member for member, report in found.items() if isinstance(report, Exception)])
        return found

    def _stacked_in(self, fold: int, *, is_first: bool) -> PopulationFold:
        setups: list[TrialSetup] = list(self._setups.values())
        if self._fold is None or is_first:
            self._fold, self._stacked = PopulationFold(setups, fold, self._device), [*self._setups]
        elif 2 * len(setups) <= len(self._stacked):
            self._fold.keep([self._stacked.index(member) for member in self._setups])
            self._stacked = [*self._setups]
        return self._fold


def _check(trials: Sequence[TrialSettings]) -> None:
    reasons = {reason for settings in trials if (reason := why_alone(settings))}
    assert not reasons, f"such trials are run alone: {reasons}"
    assert len({agreement(settings) for settings in trials}) == 1, "members agree"
