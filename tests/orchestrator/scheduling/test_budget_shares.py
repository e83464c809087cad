from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.orchestrator.scheduling.budget_shares import BudgetShares, TrialCosts
from podium.orchestrator.scheduling.resource_usage import Spent, SpentOn
from podium.orchestrator.study.blocks import searches
from podium.orchestrator.study.study import BudgetSettings, ResourceSettings, StudyLoss
from tests.orchestrator.small_study import with_search

HOUR = 3600.0
STUDY = replace(
    with_search(order="asynchronous", trials=50),
    embedding_dims=(8,),
    losses=(StudyLoss("contrastive"), StudyLoss("multi_similarity"), StudyLoss("proxy_anchor")),
    resources=ResourceSettings(gpus_per_trial=0.5),
)
SEARCHES = searches(STUDY)


class Planted:
    """The account of a study whose every complete trial took as long as a test says."""

    def __init__(self, tries, seconds, running=()):
        self.tries = tries  # search -> complete trials
        self.seconds = seconds
        self.busy = running
        self.ended = {}
        self.spending = self

    def sums(self):
        found = {
            SpentOn(search.id, "search", "complete"): Spent(
                tries=count,
                seconds=count * self.seconds,
                gpu_seconds=0.5 * count * self.seconds,
                whole_tries=count,
                whole_seconds=count * self.seconds,
            )
            for search, count in self.tries.items()
            if count
        }
        for search_id, stage, seconds in self.busy:
            found.setdefault(SpentOn(search_id, stage, "unfinished"), Spent()).add(
                Spent(tries=1, seconds=seconds, gpu_seconds=0.5 * seconds)
            )
        return found

    def running(self):
        return list(self.busy)

    def gpu_seconds(self):
        return sum(spent.gpu_seconds for spent in self.sums().values())

    def wall_seconds(self):
        return sum(spent.seconds for spent in self.sums().values())

    def end_searches(self, trials):
        self.ended |= trials


def left_of(tries, finals=(4, 4, 4), baselines=0, wanting=SEARCHES):
    """Searches and a final stage that have so many trials, and so much left to train."""
    runs = [
        SimpleNamespace(search=it, wants_more=it in wanting, num_distinct=tries[it])
        for it in SEARCHES
    ]
    left = [SimpleNamespace(num_to_train=number) for number in (*finals, baselines)]
    of = {it.id: of_search for it, of_search in zip(SEARCHES, left[:-1], strict=True)}
    return runs, SimpleNamespace(of=of, baselines=left[-1])


def shares_of(account, **limits):
    account.budget = BudgetSettings(**limits)
    return BudgetShares(replace(STUDY, budget=account.budget), account)


@settings(max_examples=25)
@given(
    budget=st.floats(0.05, 5.0),
    seconds=st.floats(10.0, 500.0),
    limit=st.sampled_from(["gpu_hours", "wall_hours"]),
)
def test_searches_that_cost_alike_end_with_the_same_trials_and_leave_enough_for_finals(
    budget, seconds, limit
):
    weight = 0.5 if limit == "gpu_hours" else 1.0
    tries = dict.fromkeys(SEARCHES, 0)
    account = Planted(tries, seconds)
    budget_shares = shares_of(account, **{limit: budget})
    for _ in range(1_000):
        allowed = budget_shares.allowed(*left_of(tries, baselines=2), num_slots=1)
        if not allowed:
            break
        for search in SEARCHES:
            if search.id in allowed:
                tries[search] += 1
                break
    assert max(tries.values()) - min(tries.values()) <= 1 or sum(tries.values()) == 1_000
    if min(tries.values()) > 1:
        spent = account.gpu_seconds() if limit == "gpu_hours" else account.wall_seconds()
        reserve = weight * seconds * 4 * len(SEARCHES)  # of finals, without the margin
        assert spent + reserve <= budget * HOUR


def test_a_baseline_that_runs_is_weighed_as_those_that_are_kept_back_for():
    tries = dict.fromkeys(SEARCHES, 1)
    busy = [("of the untrained network", "baseline", 10.0)]
    budget_shares = shares_of(Planted(tries, 100.0, busy), gpu_hours=1.0)
    budget_shares.costs.learn(budget_shares._account.sums())
    left = left_of(tries, finals=(1, 0, 0))
    assert budget_shares._reserve(0.5, *left) == pytest.approx(0.5 * (110.0 - 10.0))


def test_the_published_default_is_tried_whatever_the_share():
    tries = dict.fromkeys(SEARCHES, 0)
    budget_shares = shares_of(Planted(tries, 100.0), gpu_hours=0.0001)
    assert budget_shares.allowed(*left_of(tries), num_slots=1) == {s.id for s in SEARCHES}


def test_what_runs_counts_as_whole_trials():
    first, *_ = SEARCHES
    tries = dict.fromkeys(SEARCHES, 4)
    alone = shares_of(Planted(tries, 100.0), gpu_hours=0.45)
    assert first.id in alone.allowed(*left_of(tries), num_slots=1)
    busy = [(first.id, "search", 1.0)] * 6
    crowded = shares_of(Planted(tries, 100.0, busy), gpu_hours=0.45)
    assert first.id not in crowded.allowed(*left_of(tries), num_slots=1)


def test_what_a_finished_search_leaves_is_shared_by_the_others():
    first, *others = SEARCHES
    tries = {first: 1, **dict.fromkeys(others, 10)}
    hours = (1 + 10 + 10) * 50.0 / HOUR + 3 * 50.0 / HOUR + 4 * 3 * 55.0 / HOUR
    waiting = shares_of(Planted(tries, 100.0), gpu_hours=hours)
    assert waiting.allowed(*left_of(tries), num_slots=1) == {first.id}
    finished = left_of(tries, wanting=others)
    assert waiting.allowed(*finished, num_slots=1) == {search.id for search in others}


def test_what_one_has_had_beyond_its_share_is_missing_in_the_equal_shares_of_the_others():
    slow, *others = SEARCHES
    tries = {slow: 40, **dict.fromkeys(others, 4)}
    reserve = 4 * 3 * 55.0
    hours = (48 * 50.0 + 6 * 50.0 + reserve) / HOUR
    account = Planted(tries, 100.0)
    budget_shares = shares_of(account, gpu_hours=hours)
    while allowed := budget_shares.allowed(*left_of(tries), num_slots=1):
        tries[next(search for search in SEARCHES if search.id in allowed)] += 1
    assert tries == {slow: 40, **dict.fromkeys(others, 7)}
    assert account.gpu_seconds() + reserve <= hours * HOUR


@pytest.mark.parametrize(("finals_left", "rounds"), [(2, 1), (4, 2)])
def test_finals_take_whole_rounds_of_the_clock_however_many_places_there_are(finals_left, rounds):
    tries = dict.fromkeys(SEARCHES, 1)
    account = Planted(tries, HOUR)
    budget_shares = shares_of(account, wall_hours=3 + 1 + 1.1 * rounds)
    allowed = partial(budget_shares.allowed, *left_of(tries, [finals_left] * 3), num_slots=8)
    assert allowed() == {search.id for search in SEARCHES}
    account.busy = [(SEARCHES[0].id, "search", 36.0)]
    assert allowed() == set()


def test_the_shortest_of_what_is_left_fills_the_rounds_of_the_longest():
    first, *_ = SEARCHES
    account = Planted(dict.fromkeys(SEARCHES, 1), 100.0)
    budget_shares = shares_of(account, wall_hours=1.0)
    sums = account.sums()
    sums[SpentOn(first.id, "search", "complete")].whole_seconds = 200.0
    budget_shares.costs.learn(sums)
    left = left_of(dict.fromkeys(SEARCHES, 1), finals=(5, 3, 2), baselines=2)
    # Rounds of 4 long, of 1 long and 3 short, and of 2 short ones with the untrained networks.
    assert budget_shares._rounds_seconds(*left, num_slots=4) == pytest.approx(
        220.0 + 220.0 + 110.0
    )


def test_costs_are_of_the_same_loss_and_block_where_known_else_of_any():
    costs = TrialCosts(STUDY)
    first, second, _ = SEARCHES
    assert not costs.are_known
    assert costs.seconds(first, "search") == 0.0
    sums = {
        SpentOn(first.id, "search", "complete"): Spent(
            tries=2, seconds=80.0, whole_tries=2, whole_seconds=80.0
        )
    }
    costs.learn(sums)
    assert costs.seconds(first, "search") == 40.0
    assert costs.seconds(second, "search") == 40.0
    assert costs.seconds(first, "final") == pytest.approx(44.0)
    assert costs.baseline_seconds == pytest.approx(11.0)  # an epoch of four
    sums[SpentOn(first.id, "final", "complete")] = Spent(
        tries=1, seconds=60.0, whole_tries=1, whole_seconds=60.0
    )
    costs.learn(sums)
    assert costs.seconds(first, "final") == pytest.approx(66.0)
