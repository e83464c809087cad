"""What trials of a study cost, by those that ran from their start to their end so far."""

from collections.abc import Mapping

from orchestrator.scheduling.resource_usage import Spent, SpentOn
from orchestrator.study.blocks import protocol_of, searches
from orchestrator.study.budget import trials_per_search
from orchestrator.study.configs import loss_training
from orchestrator.study.final_stage_size import NUM_FINALISTS, num_final_runs
from orchestrator.study.study import Search, Study

__all__ = ["TrialCosts"]

# What is kept back for finals is so much more than the like has cost.
_MARGIN = 1.1


class TrialCosts:
    """Seconds of one trial, from what is known: of its block and loss, its block, or any."""

    def __init__(self, study: Study) -> None:
        planned = searches(study)
        pairs = {(search.block, search.loss) for search in planned}
        self._epochs = {
            (block, loss): loss_training(study, block, loss).epochs for block, loss in pairs
        }
        self._folds = {search.id: protocol_of(study, search).num_folds for search in planned}
        self._by_id = {search.id: search for search in planned}
        self._rates: dict[object, float] = {}  # seconds of an epoch
        self._baseline: float | None = None
        self.final_part = self._final_part(study, planned)

    @property
    def are_known(self) -> bool:
        """Whether any trial ran to its end."""
        return None in self._rates

    @property
    def baseline_seconds(self) -> float:
        """Of the untrained network; like an epoch before one was tested."""
        known = self._rates.get(None, 0.0) if self._baseline is None else self._baseline
        return known * _MARGIN

    def learn(self, sums: Mapping[SpentOn, Spent]) -> None:
        """Take in what was spent so far."""
        seconds: dict[object, float] = {}
        epochs: dict[object, float] = {}
        baseline = Spent()
        for on, spent in sums.items():
            search = self._by_id.get(on.search)
            if on.stage == "baseline":
                baseline.add(spent)
            elif search is not None and spent.whole_tries:
                for key in _keys(search, on.stage):
                    of_trial = self._planned_epochs(search, on.stage)
                    seconds[key] = seconds.get(key, 0.0) + spent.whole_seconds
                    epochs[key] = epochs.get(key, 0.0) + spent.whole_tries * of_trial
        self._rates = {key: seconds[key] / epochs[key] for key in seconds}
        if baseline.whole_tries:
            self._baseline = baseline.whole_seconds / baseline.whole_tries

    def seconds(self, search: Search, stage: str) -> float | None:
        """Of one trial of a stage; of finals with a margin. None before anything is known."""
        for key in _keys(search, stage):
            if key in self._rates:
                of_trial = self._rates[key] * self._planned_epochs(search, stage)
                return of_trial * (_MARGIN if stage == "final" else 1.0)
        return None

    def _planned_epochs(self, search: Search, stage: str) -> int:
        folds = self._folds[search.id] if stage == "search" else 1
        return self._epochs[search.block, search.loss] * folds

    def _final_part(self, study: Study, planned: tuple[Search, ...]) -> float:
        """Of all epochs, were no trial stopped early."""
        trials = trials_per_search(study)
        searched = sum(trials * self._planned_epochs(search, "search") for search in planned)
        finals = sum(
            NUM_FINALISTS * num_final_runs(study, search) * self._planned_epochs(search, "final")
            for search in planned
        )
        return finals / (finals + searched)


def _keys(search: Search, stage: str) -> tuple[object, ...]:
    """From what tells most about a trial to what tells least."""
    pair = (search.block, search.loss)
    return ((*pair, stage), pair, search.block, None)
