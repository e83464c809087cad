import csv
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.search_samplers.sweeps import fair_shares, independent_sweeps, successive_sweeps
from orchestrator.study.loss_facts import facts_of
from search_spaces.parameters import Choice, Condition, Int, Real, Space
from tests.orchestrator.search_samplers.searching import task_of

TABLE_15 = Path(__file__).parents[2] / "data/thesis_search_spaces.csv"


def thesis_task(loss, trials):
    facts = facts_of(loss)
    values = {**facts.defaults, "proxy_learning_rate": 1e-4}
    return task_of(facts.spaces["psomas2020"], values, facts.conditions, trials=trials)


def steps_of_table_15(thesis_name):
    """Number of values of each hyperparameter, counted from the printed ranges."""
    with TABLE_15.open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["loss"] == thesis_name]
    return [
        round((float(row["high"]) - float(row["low"])) / float(row["step"]))
        + (row["low_inclusive"] == "true")
        for row in rows
    ]


@pytest.mark.parametrize(
    ("needs", "budget", "parts"),
    [
        ([50, 50, 11, 11], 122, [50, 50, 11, 11]),
        ([50, 50, 11, 11], 98, [38, 38, 11, 11]),
        ([50, 50, 11, 11], 40, [10, 10, 10, 10]),
        ([None, 3, None], 23, [10, 3, 10]),
        ([None, None], 7, [3, 3]),
        ([2, 2], 100, [2, 2]),
        ([5, None], 0, [1, 1]),
        ([], 10, []),
    ],
)
def test_what_a_short_sweep_does_not_need_goes_to_the_longer_ones(needs, budget, parts):
    names = [f"p{index}" for index in range(len(needs))]
    shares = fair_shares(dict(zip(names, needs, strict=True)), budget)
    assert shares == dict(zip(names, parts, strict=True))
    assert list(shares) == names


@pytest.mark.parametrize(
    ("loss", "thesis_name"),
    [
        ("multi_similarity", "MultiSimilarity"),
        ("soft_triple", "SoftTriple"),
        ("proxy_anchor", "ProxyAnchor"),
    ],
)
def test_table_15_is_swept_whole_by_its_steps_a_default_and_a_combination(loss, thesis_name):
    steps = steps_of_table_15(thesis_name)
    whole = independent_sweeps(thesis_task(loss, sum(steps) + 2))
    assert whole.is_whole
    assert whole.trials_of_whole == sum(steps) + 2
    assert sorted(len(sweep.values) for sweep in whole.each) == sorted(steps)
    assert not independent_sweeps(thesis_task(loss, sum(steps) + 1)).is_whole
    assert successive_sweeps(thesis_task(loss, sum(steps) + 1)).is_whole


def test_a_range_without_steps_takes_its_part_of_what_makes_the_others_whole():
    space = Space({"rate": Real(1e-4, 1e-1, log=True), "bins": Int(1, 9), "form": Choice("ab")})
    task = task_of(space, {"rate": 1e-2, "bins": 5, "form": "a"}, trials=10)
    assert [sweep.num_all for sweep in independent_sweeps(task).each] == [None, 9, 2]
    needed = independent_sweeps(task).trials_of_whole
    assert needed == 2 + 9 + 9 + 2
    assert independent_sweeps(replace(task, trials=needed)).is_whole
    assert not independent_sweeps(replace(task, trials=needed - 1)).is_whole


def test_only_sweeps_that_move_on_prepare_for_what_does_not_exist_at_first():
    space = Space({"centres": Choice((1, 5)), "tau": Real(0.0, 1.0, step=0.5)})
    task = task_of(space, {"centres": 1, "tau": 0.5}, {"tau": Condition("centres", above=1)})
    assert [sweep.name for sweep in independent_sweeps(task).each] == ["centres"]
    assert [sweep.name for sweep in successive_sweeps(task).each] == ["centres", "tau"]
