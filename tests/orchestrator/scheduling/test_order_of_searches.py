"""What the queues keep up to date at each change equals what a look at everything gives.

The oracle keeps every suggestion and outcome, and walks over all of them for each answer.
"""

import random
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cache, partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.orchestrator.scheduling.early_stopping import EarlyStopper
from podium.orchestrator.scheduling.final_stage import FinalStage
from podium.orchestrator.scheduling.running_search import SearchRun
from podium.orchestrator.scheduling.trial_queues import StudyQueues
from podium.orchestrator.search_samplers.suggester import Outcome, Suggester
from podium.orchestrator.study.blocks import blocks, searches
from podium.orchestrator.study.configs import first_configs
from podium.orchestrator.trials.specification_maker import TrialSpecMaker
from podium.trainables.dataset_interface.load_dataset import load_dataset
from tests.orchestrator.shared_finals import SMALL

TRIALS, LAG, MAX_DUPLICATES = 5, 2, 20


@dataclass(frozen=True)
class Habits:
    """How a sampler behaves after so many suggestions."""

    waits_at: frozenset[int]
    exhausted_after: int

    def waits(self, number):
        return number in self.waits_at

    def is_exhausted(self, number):
        return number >= self.exhausted_after


class SamplerWithHabits(Suggester):
    """Draws few configs again and again, and notes what it is told."""

    def __init__(self, habits, first, seed):
        self._habits, self._default, self._random = habits, first, random.Random(seed)
        self.number = 0
        self.told = []

    @property
    def is_exhausted(self):
        return self._habits.is_exhausted(self.number)

    @property
    def wants_all_outcomes(self):
        return self._habits.waits(self.number)

    def suggest(self, index):
        self.number += 1
        return {**self._default, "learning_rate": self._random.randint(1, 9) / 1000}

    def set_suggestion(self, index, hyperparameters):
        self.number += 1

    def tell(self, index, outcome):
        self.told.append((index, outcome))


@dataclass
class PlainSearch:
    """All that happened in a search; every answer is a walk."""

    search: object
    habits: Habits
    is_deterministic: bool
    asks: list = field(default_factory=list)
    outcomes: dict = field(default_factory=dict)
    told: list = field(default_factory=list)
    unreported: dict = field(default_factory=dict)
    is_cancelled: bool = False

    @property
    def distinct(self):
        return len({ask.trial_id for ask in self.asks})

    @property
    def wants_more(self):
        ids = [ask.trial_id for ask in self.asks]
        tail = range(len(ids))[-MAX_DUPLICATES:]
        repeats = len(tail) == MAX_DUPLICATES and all(ids[at] in ids[:at] for at in tail)
        is_exhausted = repeats or self.habits.is_exhausted(len(ids))
        return not (self.is_cancelled or self.distinct >= TRIALS or is_exhausted)

    @property
    def is_over(self):
        return not self.wants_more and len(self.outcomes) == self.distinct

    @property
    def visible(self):
        is_lagging = self.is_deterministic and not self.habits.waits(len(self.asks))
        return len(self.asks) - (LAG - 1) * is_lagging

    @property
    def can_suggest(self):
        if not self.wants_more:
            return False
        if not self.is_deterministic and not self.habits.waits(len(self.asks)):
            return True
        return all(
            ask.trial_id in self.outcomes
            for index, ask in self.unreported.items()
            if index < self.visible
        )

    def may_start(self, trial_id):
        ids = [ask.trial_id for ask in self.asks]
        last_rival = ids.index(trial_id) - LAG
        return not self.is_deterministic or all(
            ids.index(other) > last_rival or other in self.outcomes for other in ids
        )

    @property
    def winner(self):
        complete = [
            (self.outcomes[ask.trial_id].objective, -index, ask)
            for index, ask in enumerate(self.asks)
            if ask.trial_id in self.outcomes and self.outcomes[ask.trial_id].objective is not None
        ]
        return max(complete, key=lambda it: it[:2])[2] if complete else None

    def tell_visible(self):
        for index, ask in sorted(self.unreported.items()):
            if index < self.visible and ask.trial_id in self.outcomes:
                self.told.append((index, self.outcomes[ask.trial_id]))
                del self.unreported[index]

    def note(self, ask):
        self.tell_visible()
        self.asks.append(ask)
        self.unreported[ask.index] = ask

    def finish(self, trial_id, outcome):
        self.outcomes[trial_id] = outcome
        if not self.is_deterministic:
            self.tell_visible()

    def restored(self):
        """The same after a restart: it is told what it was told, if in another order."""
        again = PlainSearch(self.search, self.habits, self.is_deterministic)
        for ask in self.asks:
            again.note(ask)
            if ask.trial_id in self.outcomes:
                again.outcomes[ask.trial_id] = self.outcomes[ask.trial_id]
        again.tell_visible()
        again.is_cancelled = self.is_cancelled
        return again


@cache
def maker():
    datasets = {item.label: load_dataset(item, None) for item in SMALL.datasets}
    return TrialSpecMaker(SMALL, datasets)


class History:
    """A study as it is driven at random, beside what a walk over everything says of it."""

    def __init__(self, order, population, dice):
        search = replace(
            SMALL.search, trials=TRIALS, order=order, lag=LAG, population=population, repeats=2
        )
        self.study = replace(SMALL, search=search)
        self.dice = dice
        self.searches = {search.id: search for search in searches(self.study)}
        habits = {name: self._habits() for name in self.searches}
        self.plain = {
            name: PlainSearch(search, habits[name], order == "deterministic")
            for name, search in self.searches.items()
        }
        self.committed, self.running = {}, []
        self.over = set()
        self._begin()

    def _habits(self):
        waits_at = self.dice.sample(range(1, 12), self.dice.randint(0, 2))
        return Habits(frozenset(waits_at), self.dice.choice([3, 99, 99, 99]))

    def _begin(self):
        study, seed = self.study, self.dice.randrange(1000)
        self.filled, self.num_filled = None, 0
        self.samplers, runs = {}, []
        for name, search in self.searches.items():
            first = first_configs(study, search.block, search.loss)
            sampler = SamplerWithHabits(self.plain[name].habits, first[0], seed)
            self.samplers[name] = sampler
            stopper = EarlyStopper(study.search.early_stopping, epochs=4, folds=1)
            spec = partial(maker().search_trial, search)
            runs.append(SearchRun(search, study.search, sampler, first, spec, stopper))
        self.final_stage = FinalStage(
            study,
            tuple(self.searches.values()),
            maker(),
            [spec for block in blocks(study) for spec in maker().baseline_trials(block)],
            committed=self.committed,
            refit_epochs={},
        )
        self.queues = StudyQueues(study, runs, self.final_stage, None)

    def start(self):
        retry = next(filter(self._may_start, self.retried()), None)
        spec = self.queues.next_spec(self._compare_ask, num_slots=3)
        if retry is not None:
            assert spec is retry
        elif spec is None or spec.stage != "search":
            assert self._expected() is None
        if spec is not None:
            self.running.append(spec)

    def retried(self):
        return list(self.queues._retries)

    def _may_start(self, spec):
        return spec.stage != "search" or self.plain[spec.search.id].may_start(spec.trial_id)

    def _compare_ask(self, ask):
        expected = self._expected()
        assert ask.search == expected.search.id
        if expected is not self.filled or self.num_filled == self.study.search.population:
            self.num_filled = 0
        self.filled, self.num_filled = expected, self.num_filled + 1
        expected.note(ask)

    def _expected(self):
        askable = [search for search in self.plain.values() if search.can_suggest]
        if not askable:
            return None
        is_full = self.num_filled == self.study.search.population
        if self.filled in askable and not is_full:
            return self.filled
        first = min(askable, key=lambda search: search.distinct / TRIALS)
        self.num_filled = 0 if first is self.filled else self.num_filled
        return first

    def finish(self):
        if not self.running:
            return
        spec = self.running.pop(self.dice.randrange(len(self.running)))
        outcome = self._outcome()
        if spec.stage == "search":
            self.plain[spec.search.id].finish(spec.trial_id, outcome)
        self.queues.finish(spec, outcome)

    def _outcome(self):
        state = self.dice.choice(["COMPLETE", "COMPLETE", "PRUNED", "FAILED"])
        objective = self.dice.randint(0, 3) / 4 if state == "COMPLETE" else None
        return Outcome(state, objective, selected_epoch=1)

    def lose(self):
        if self.running:
            self.queues.requeue(self.running.pop(self.dice.randrange(len(self.running))))

    def cancel(self):
        name = self.dice.choice(list(self.searches))
        self.plain[name].is_cancelled |= self.plain[name].wants_more
        self.queues.cancel({name})

    def copy(self):
        for specs in self.final_stage.take_copies().values():
            for spec in specs:
                self.final_stage.finish(spec)

    def restart(self):
        """Rebuild the queues from asks and outcomes; only before any final, for simplicity."""
        is_search = all(spec.stage == "search" for spec in (*self.running, *self.retried()))
        if any(search.is_over for search in self.plain.values()) or not is_search:
            return
        self.plain = {name: search.restored() for name, search in self.plain.items()}
        self._begin()
        self.queues.restore(
            {name: search.asks for name, search in self.plain.items()},
            {name: search.outcomes for name, search in self.plain.items()},
        )
        self.queues.cancel({name for name, one in self.plain.items() if one.is_cancelled})
        self.running = []

    def check(self):
        plain, counts = self.plain.values(), [*self.final_stage.of.values()]
        counts.append(self.final_stage.baselines)
        planned = sum(one.distinct if one.is_over else TRIALS for one in plain)
        states = [outcome.state for one in plain for outcome in one.outcomes.values()]
        copies = sum(one.num_copies for one in counts)
        copies_done = sum(one.num_copies_done for one in counts)
        queues = self.queues
        assert queues.num_planned == planned + sum(one.num_planned for one in counts)
        assert queues.num_done == len(states) + sum(one.num_done for one in counts)
        assert queues.num_trained == queues.num_done - copies_done
        assert queues.num_to_train == queues.num_planned - copies
        failed = states.count("FAILED") + sum(one.num_failed for one in counts)
        assert queues.num_failed == failed
        newly = [one.search.id for one in plain if one.is_over and one.search.id not in self.over]
        assert [run.search.id for run in queues.take_newly_over()] == newly
        self.over.update(newly)
        for run in queues.runs:
            self._check_search(run, self.plain[run.search.id])

    def _check_search(self, run, plain):
        winner = plain.winner
        best = None if winner is None else plain.outcomes[winner.trial_id].objective
        assert (run.winner, run.best) == (winner, best)
        assert (run.num_distinct, run.num_ended) == (plain.distinct, len(plain.outcomes))
        assert (run.wants_more, run.can_suggest) == (plain.wants_more, plain.can_suggest)
        assert run.is_over == plain.is_over
        assert self.samplers[run.search.id].told == plain.told
        by_state = defaultdict(int)
        for outcome in plain.outcomes.values():
            by_state[outcome.state] += 1
        for state in ("COMPLETE", "PRUNED", "FAILED"):
            assert run.count(state) == by_state[state]
        for spec in self.running:
            if spec.search == plain.search and spec.stage == "search":
                assert run.may_start(spec.trial_id) == self._may_start(spec)


STEPS = ("start",) * 6 + ("finish",) * 5 + ("lose", "copy", "cancel", "restart")


@pytest.mark.parametrize("order", ["asynchronous", "deterministic"])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**9), population=st.integers(1, 3), num_steps=st.integers(1, 100))
def test_a_random_history_is_continued_as_a_walk_over_all_searches_would(
    order, seed, population, num_steps
):
    dice = random.Random(seed)
    history = History(order, population, dice)
    for _ in range(num_steps):
        getattr(history, dice.choice(STEPS))()
        history.check()
