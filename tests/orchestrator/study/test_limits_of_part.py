"""The share that a part of a study has in its budget."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.results.records.runs import WHOLE, Part
from orchestrator.study.blocks import blocks
from orchestrator.study.budget import limits_of_part, num_reserved_trials, trials_per_search
from orchestrator.study.study import BudgetSettings
from tests.orchestrator.small_study import STUDY

FIVE_BLOCKS = replace(STUDY, embedding_dims=(8, 16, 24, 32, 40))


def hours_of(budget, part, used):
    return limits_of_part(FIVE_BLOCKS, budget, part, used).gpu_hours


def test_the_whole_study_has_the_whole_budget():
    budget = BudgetSettings(gpu_hours=10.0, wall_hours=3.0, trials=100)
    assert limits_of_part(FIVE_BLOCKS, budget, WHOLE, []) is budget


def test_a_part_has_the_share_of_its_blocks_and_all_hours_of_the_clock():
    budget = BudgetSettings(gpu_hours=10.0, wall_hours=3.0, trials=101)
    assert [len(blocks(FIVE_BLOCKS, part)) for part in Part(1, 2).all] == [3, 2]
    first, second = (limits_of_part(FIVE_BLOCKS, budget, part, [0, 0]) for part in Part(1, 2).all)
    assert first == BudgetSettings(gpu_hours=6.0, wall_hours=3.0, trials=60)
    assert second == BudgetSettings(gpu_hours=4.0, wall_hours=3.0, trials=40)


def test_without_limits_a_part_has_none():
    assert limits_of_part(FIVE_BLOCKS, BudgetSettings(), Part(1, 2), [5, 0]) == BudgetSettings()


def test_what_a_part_had_beyond_its_share_is_missing_in_those_of_others():
    """By hand: 10 hours for blocks 2, 1, 1, 1, so 4, 2, 2 and 2; the second had 4."""
    budget, used = BudgetSettings(gpu_hours=10.0), [0.0, 4.0, 1.0, 0.0]
    found = [hours_of(budget, part, used) for part in Part(1, 4).all]
    assert found == [3.0, 4.0, 1.5, 1.5]


@given(
    hours=st.floats(0.0, 100.0),
    used=st.lists(st.floats(0.0, 50.0), min_size=4, max_size=4),
)
def test_parts_never_use_more_than_the_budget_or_than_they_had(hours, used):
    budget = BudgetSettings(gpu_hours=hours)
    limits = [hours_of(budget, part, used) for part in Part(1, 4).all]
    most = sum(max(limit, had) for limit, had in zip(limits, used, strict=True))
    assert most <= max(hours, sum(used)) + 1e-6


@pytest.mark.parametrize("trials", [100, 123, 200])
def test_a_share_of_trials_holds_what_the_searches_and_finals_of_a_part_may_have(trials):
    study = replace(FIVE_BLOCKS, budget=BudgetSettings(trials=trials))
    for part in Part(1, 3).all:
        own = len(blocks(study, part)) / len(blocks(study))
        planned = own * (
            trials_per_search(study) * len(blocks(study)) * 2 + num_reserved_trials(study)
        )
        assert limits_of_part(study, study.budget, part, [0] * 3).trials >= int(planned)
