import pytest

from podium.orchestrator.scheduling.timeouts import gather_seconds
from podium.orchestrator.study.study import ResourceSettings


@pytest.mark.parametrize(
    ("slots", "stuck_minutes", "seconds"),
    [(1, 60.0, 1.0), (100, 60.0, 1.0), (10_000, 60.0, 100.0), (10_000, None, 100.0)],
)
def test_all_slots_together_report_a_hundred_times_a_second(slots, stuck_minutes, seconds):
    assert gather_seconds(slots, ResourceSettings(stuck_minutes=stuck_minutes)) == seconds


@pytest.mark.parametrize("slots", [1, 10_000])
def test_a_trial_that_gathers_epochs_is_not_taken_for_stuck(slots):
    assert gather_seconds(slots, ResourceSettings(stuck_minutes=0.02)) == pytest.approx(0.3)
