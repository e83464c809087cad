"""Timeouts: trials that take too long, send no message for too long, or wait for a lost node."""

import time
from collections.abc import Collection

from podium.orchestrator.scheduling.executor_interface import Loss
from podium.orchestrator.scheduling.running_trial import RunningTrial
from podium.orchestrator.study.blocks import SECONDS_PER_HOUR
from podium.orchestrator.study.resource_demand import Capacity
from podium.orchestrator.study.study import ResourceSettings

# A trial that is known to take long between messages is not taken for stuck.
_TIMES_LONGEST = 4.0

# Of all worker slots together, so that the driver has time for trials that end.
_MESSAGES_A_SECOND = 100.0
_LEAST_GATHER_SECONDS = 1.0
_GATHERED_PART = 0.25  # of the time after which a silent trial is taken for stuck

_AWAY_SECONDS = 10.0  # calls come every second or so; after a longer gap the driver was stopped


class TimeoutWatch:
    """Called every second or so while trials run."""

    def __init__(self, resources: ResourceSettings) -> None:
        self._resources = resources
        self._last_call: float | None = None

    def losses(self, trials: Collection[RunningTrial], capacity: Capacity) -> dict[str, Loss]:
        """The trials that must be killed now, and why.

        Time in which the driver itself was stopped, or waited for the store, does not count: no
        message was read then.
        """
        now = time.monotonic()
        away = 0.0 if self._last_call is None else now - self._last_call - _AWAY_SECONDS
        self._last_call = now
        if away > 0:
            for running in trials:
                running.discount(away)
        return {
            running.spec.trial_id: loss
            for running in trials
            if (loss := _loss(running, self._resources, capacity)) is not None
        }


def gather_seconds(num_slots: int, resources: ResourceSettings) -> float:
    """How long workers gather epochs before they report them: a quarter of stuck_minutes at most.

    The more trials run at a time, the longer.
    """
    wanted = max(num_slots / _MESSAGES_A_SECOND, _LEAST_GATHER_SECONDS)
    minutes = resources.stuck_minutes
    return wanted if minutes is None else min(wanted, _GATHERED_PART * minutes * 60)


def _loss(running: RunningTrial, resources: ResourceSettings, capacity: Capacity) -> Loss | None:
    if running.begun is None:
        return _waits_for_lost_node(running, capacity)
    return timeout_of(running, resources) or _stuck(running, resources)


def timeout_of(running: RunningTrial, resources: ResourceSettings) -> Loss | None:
    """The timeout of a trial whose attempts together took too long; None if it has time left."""
    hours = resources.trial_hours
    if hours is None or running.seconds_of_trial() <= hours * SECONDS_PER_HOUR:
        return None
    message = f"it ran for more than resources.trial_hours: {hours:g}"
    if running.earlier:
        message += f", in {len(running.earlier) + 1} attempts"
    return Loss(cause="timeout", message=message)


def _stuck(running: RunningTrial, resources: ResourceSettings) -> Loss | None:
    minutes, heard = resources.stuck_minutes, running.heard
    if minutes is None or heard is None:
        return None
    silent = time.monotonic() - heard
    if silent <= minutes * 60:  # as nearly all: what comes next takes longer
        return None
    # An epoch of a population takes as long as those of all members.
    longest = running.history.longest_seconds * running.demand.num_members
    limit = max(minutes * 60, _TIMES_LONGEST * longest)
    if silent <= limit:
        return None
    return Loss(
        cause="stuck",
        message=f"it said nothing for {limit / 60:.3g} minutes; if an epoch may take as long, "
        f"resources.stuck_minutes: {minutes:g} is too short",
    )


def _waits_for_lost_node(running: RunningTrial, capacity: Capacity) -> Loss | None:
    """A trial that is to be alone asked for a node of a size that is no longer there."""
    if not running.is_alone or not capacity.nodes:
        return None
    if any(map(running.demand.fits_on, capacity.nodes)):
        return None
    return Loss(cause="lost_node", message="the node it waited for is gone")
