"""How long a study still takes, by what its trials have cost so far and what is left of them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from orchestrator.scheduling.expected_epochs import ExpectedEpochs, epochs_by_index
from orchestrator.scheduling.running_search import SearchRun
from orchestrator.scheduling.trial_queues import StudyQueues
from orchestrator.scheduling.trial_seconds import TrialKind, TrialSeconds
from orchestrator.study.blocks import NUM_FINALISTS, final_protocol_of, protocol_of
from orchestrator.study.configs import loss_training
from orchestrator.study.study import Block, Search, Study
from orchestrator.trials.specification import TrialSpec

# An estimate is made once this part of the work is done, or less where every block and loss has
# trained an epoch: what is left then is much like what was.
_PART_SEEN, _PART_SEEN_OF_ALL = 0.08, 0.02
_PRUNING_WEIGHT = 5.0  # trials whose epochs were as expected, added to those that ended
_LEAST_BUSY = 0.2


class Estimate(NamedTuple):
    """How far a study is.

    Attributes:
        seconds_left: seconds until all its trials are done.
        part_done: part of the seconds of all its trials that is done, in [0, 1].
    """

    seconds_left: float
    part_done: float


@dataclass(slots=True)
class _Running:
    spec: TrialSpec
    is_first: bool  # in its worker, which has to load a lot
    begun: float
    epochs: int = 0
    epoch_seconds: float = 0.0


class TimeLeft:
    """Follows the trials of one run; what earlier runs know comes from their rows.

    Args:
        study: the resolved study.
        queues: what is left of it.
        clock: gives seconds of a monotonic clock.
    """

    def __init__(self, study: Study, queues: StudyQueues, clock: Callable[[], float]) -> None:
        self._study = study
        self._queues = queues
        self._clock = clock
        self._costs = TrialSeconds()
        self._running: dict[str, _Running] = {}
        self._epochs = {run.search.id: _epochs_of(study, run.search) for run in queues.runs}
        self._expected = {
            search_id: ExpectedEpochs(
                epochs_by_index(study.search.early_stopping, epochs=epochs, folds=folds)
            )
            for search_id, (epochs, folds) in self._epochs.items()
        }
        self._pruning = [_PRUNING_WEIGHT, _PRUNING_WEIGHT]  # trained and expected, in whole trials
        self._num_pairs = len({(run.search.block, run.search.loss) for run in queues.runs})
        self._done_seconds = 0.0
        self._num_slots = 1
        self._num_started = 0
        self._worked, self._paced, self._pace = 0.0, self._clock(), 1.0  # see `_work_clock`
        self._watched: float | None = None  # until when slots were counted
        self._slot_seconds = 0.0
        self._busy_seconds = 0.0

    def learn_rows(self, trials: pl.LazyFrame) -> None:
        """Learn what the rows of earlier runs cost, from `Reader.trials`."""
        trained = (pl.col("seconds") - pl.col("test_seconds")).alias("trained")
        names = ("stage", "train_on", "dataset", "backbone", "embedding_dim", "image_size", "loss")
        kinds: dict[tuple[Any, ...], TrialKind] = {}
        taken = trials.filter(pl.col("same_as").is_null())
        rows = taken.select(*names, "epochs_run", "seconds", trained).collect()
        for *key, epochs, seconds, of_training in rows.iter_rows():
            self._done_seconds += seconds or 0.0
            if key[0] == "baseline":
                continue
            kind = kinds.get(tuple(key))
            if kind is None:
                row = dict(zip(names, key, strict=True))
                kind = TrialKind(row["train_on"] or row["stage"], _block(row), row["loss"])
                kinds[tuple(key)] = kind
            self._costs.learn_epochs(kind, epochs or 0, of_training or 0.0)

    def set_slots(self, number: int) -> None:
        """So many trials fit at a time from now on."""
        self._slot_seconds, self._watched = self._slots_until(self._clock())
        self._num_slots = number
        self._set_pace()

    def trial_started(self, spec: TrialSpec) -> None:
        """A worker has a trial now."""
        if spec.trial_id not in self._running:
            now = self._clock()
            self._watched = now if self._watched is None else self._watched
            self._num_started += 1
            is_first = self._num_started <= self._num_slots
            self._running[spec.trial_id] = _Running(spec, is_first, self._work_clock())
            self._set_pace()

    def epoch_ended(self, spec: TrialSpec, seconds: float) -> None:
        """A trial reported an epoch, which took so many seconds."""
        self.trial_started(spec)
        running = self._running[spec.trial_id]
        running.epochs += 1
        running.epoch_seconds += seconds
        if spec.stage != "baseline" and not (running.is_first and running.epochs == 1):
            self._costs.learn_epochs(_kind(spec), 1, seconds)

    def attempt_ended(self, spec: TrialSpec, *, is_over: bool) -> None:
        """A trial ended, or the worker that had it was lost."""
        running = self._running.pop(spec.trial_id, None)
        if running is None:
            return
        seconds = self._work_clock() - running.begun
        self._set_pace()
        self._busy_seconds += seconds
        if not is_over:
            return
        self._done_seconds += seconds
        if not running.is_first:
            trained = 0.0 if spec.stage == "baseline" else running.epoch_seconds
            self._costs.learn_around(_kind(spec), max(0.0, seconds - trained))
        if spec.stage == "search":
            expected = self._expected[spec.search.id]
            if expected.of(spec.index) < expected.whole:
                self._pruning[0] += running.epochs / expected.whole
                self._pruning[1] += expected.of(spec.index) / expected.whole

    def estimate(self) -> Estimate | None:
        """How far the study is; None while too little of it has been seen."""
        worked = self._work_clock()
        running = tuple(self._running.values())
        left = [self._left_of(one, worked) for one in running]
        waiting = sum(self._waiting_seconds())
        elapsed = sum(worked - one.begun for one in running)
        done, rest = self._done_seconds + elapsed, waiting + sum(left)
        part_done = done / (done + rest) if done else 0.0
        has_seen_all = self._costs.num_rates >= self._num_pairs
        needed = _PART_SEEN_OF_ALL if has_seen_all else _PART_SEEN
        if not self._costs.num_rates or part_done < needed:
            return None
        slots = self._num_slots * self._busy_part(self._clock(), elapsed)
        # Trials that end last leave the other slots idle, for half of the longest on average.
        idle = (1 - 1 / self._num_slots) * self._longest_waiting() / 2
        return Estimate(max(rest / slots + idle, max(left, default=0.0)), part_done)

    def _longest_waiting(self) -> float:
        """Seconds of the longest trial that has not started, if it is not stopped early."""
        finals = self._queues.final_stage.of
        seconds = (
            self._costs.of_epochs(_kind_of(run.search, "search"), self._epochs[run.search.id][0])
            for run in self._queues.runs
            if (specs := finals[run.search.id].specs) is None or any(self._not_running(specs))
        )
        return max(seconds, default=0.0)

    def _slots_until(self, now: float) -> tuple[float, float | None]:
        """Seconds of all worker slots since the first trial started, and until when."""
        if self._watched is None:
            return 0.0, None
        return self._slot_seconds + (now - self._watched) * self._num_slots, now

    def _busy_part(self, now: float, elapsed: float) -> float:
        """Part of the time of worker slots in which they had a trial."""
        slot_seconds, _ = self._slots_until(now)
        if not slot_seconds:
            return 1.0
        return min(1.0, max(_LEAST_BUSY, (self._busy_seconds + elapsed) / slot_seconds))

    def _work_clock(self) -> float:
        """Seconds of one slot's work for each running trial, on and on.

        It runs as any clock does, but slower where more trials run than there are slots, as do
        members of populations: then each has its part of the slots.
        """
        return self._worked + (self._clock() - self._paced) * self._pace

    def _set_pace(self) -> None:
        """From now on the clock of work runs by the present number of trials and slots."""
        self._worked, self._paced = self._work_clock(), self._clock()
        self._pace = min(1.0, self._num_slots / max(1, len(self._running)))

    def _left_of(self, running: _Running, worked: float) -> float:
        spec, kind = running.spec, _kind(running.spec)
        if spec.stage == "baseline":
            epochs = 0.0
        elif spec.stage == "search":
            left = self._expected[spec.search.id].left(spec.index, running.epochs)
            epochs = left * self._pruning_factor
        else:
            epochs = max(0.0, self._epochs_of_final(spec) - running.epochs)
        since = worked - running.begun - running.epoch_seconds
        around = max(0.0, self._costs.around(kind) - max(0.0, since))
        return self._costs.of_epochs(kind, epochs) + around

    @property
    def _pruning_factor(self) -> float:
        return self._pruning[0] / self._pruning[1]

    def _waiting_seconds(self) -> Iterator[float]:
        """Seconds of all trials that have not started, or that are to be repeated."""
        running = Counter(
            one.spec.search.id
            for one in tuple(self._running.values())
            if one.spec.stage == "search"
        )
        for run in self._queues.runs:
            yield self._search_seconds(run, running[run.search.id])
            yield self._finals_seconds(run)
        baselines = self._queues.final_stage.baselines
        for spec in self._not_running(baselines.specs or ()):
            yield self._costs.around(_kind(spec))

    def _search_seconds(self, run: SearchRun, num_running: int) -> float:
        expected, kind = self._expected[run.search.id], _kind_of(run.search, "search")
        num_repeated = max(0, run.num_distinct - run.num_ended - num_running)
        to_come = run.num_planned - run.num_distinct
        epochs = num_repeated * expected.of(run.num_distinct)
        epochs += expected.of_rest(run.num_distinct, run.num_planned)
        seconds = self._costs.of_epochs(kind, epochs * self._pruning_factor)
        return seconds + (num_repeated + to_come) * self._costs.around(kind)

    def _finals_seconds(self, run: SearchRun) -> float:
        finals = self._queues.final_stage.of[run.search.id]
        if finals.specs is not None:
            return sum(
                self._costs.of_epochs(_kind(spec), self._epochs_of_final(spec))
                + self._costs.around(_kind(spec))
                for spec in self._not_running(finals.specs)
            )
        search, final = run.search, self._study.final
        epochs, _ = self._epochs[search.id]
        runs = {"part": final_protocol_of(self._study, search).num_folds, "all": 1}
        refit_epochs = run.winner_epoch or epochs
        of_finalist = sum(runs[train_on] for train_on in final.train_on)
        share = finals.num_planned / of_finalist * self._part_of_finals(run)
        return share * sum(
            runs[train_on]
            * (
                self._costs.of_epochs(kind, refit_epochs if train_on == "all" else epochs)
                + self._costs.around(kind)
            )
            for train_on in final.train_on
            for kind in [_kind_of(search, train_on)]
        )

    def _part_of_finals(self, run: SearchRun) -> float:
        """Part of the finals that is to be expected: half if the published default will win.

        Were all configs alike, the best of n trials so far would stay the best of all with the
        probability n / number of trials.
        """
        if self._study.search.trials == 1:
            return 1.0
        best = run.winner
        wins = 1.0 if best is None or best.index == 0 else 0.0
        return 1 - wins * max(1, run.num_ended) / self._study.search.trials / NUM_FINALISTS

    def _epochs_of_final(self, spec: TrialSpec) -> float:
        whole, _ = self._epochs[spec.search.id]
        return spec.settings.stop_epoch or whole

    def _not_running(self, specs: Iterable[TrialSpec]) -> Iterator[TrialSpec]:
        return (
            spec
            for spec in self._queues.final_stage.left_of(specs)
            if spec.trial_id not in self._running
        )


def _epochs_of(study: Study, search: Search) -> tuple[int, int]:
    """Epochs of each fold, and folds, of the trials of a search."""
    training = loss_training(study, search.block, search.loss)
    return training.epochs, protocol_of(study, search).num_folds


def _kind(spec: TrialSpec) -> TrialKind:
    return _kind_of(spec.search, spec.train_on or spec.stage)


def _kind_of(search: Search, stage: str) -> TrialKind:
    return TrialKind(stage, search.block, search.loss)


def _block(row: Mapping[str, Any]) -> Block:
    return Block(
        dataset=row["dataset"],
        backbone=row["backbone"],
        embedding_dim=row["embedding_dim"],
        image_size=row["image_size"],
    )
