"""What follows a failed attempt: the trial is retried, as it was or alone, or it fails.

Everything here follows from the attempts in the store, so a new driver decides as the old one.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from podium.orchestrator.results.records.journal_records import Attempt
from podium.orchestrator.study.resource_demand import Capacity, Demand
from podium.orchestrator.trials.failure_causes import (
    DATA,
    DEVICE,
    LOST,
    OUT_OF_HOST_MEMORY,
    OUT_OF_MEMORY,
    STUCK,
)
from podium.orchestrator.trials.worker_messages import Ended

# A lost worker is not the trial's fault, unless the trial loses it every time.
MAX_FRUITLESS_ATTEMPTS = 3

_FAILS_AS: Mapping[str | None, str] = {
    "lost_node": LOST,
    "lost_worker": LOST,
    "stuck": STUCK,
    DEVICE: DEVICE,
    DATA: DATA,
}
"""Cause -> cause of the failure after `MAX_FRUITLESS_ATTEMPTS` attempts that got no further."""

_ALONE_ON: Mapping[str | None, Literal["device", "node"]] = {
    OUT_OF_MEMORY: "device",
    OUT_OF_HOST_MEMORY: "node",
    "killed_for_memory": "node",
}
"""Cause -> what the trial gets to itself from then on; if it had that, it fails."""

_NEVER_HELD = "preempted"  # against a trial; nor is an attempt that did not end, or was stopped


def is_retried(cause: str | None) -> bool:
    """Whether an attempt that ended with this cause may be retried."""
    return cause == _NEVER_HELD or cause in _FAILS_AS or cause in _ALONE_ON


def demand_of_next_attempt(
    attempts: Sequence[Attempt], usual: Demand, capacity: Capacity, members: int = 1
) -> Demand:
    """What the next attempt occupies: more than usual if memory ran out, or nodes died, before.

    Trials that die with a node need not have killed it. So the last attempt before a trial fails
    for that has a node to itself, where a trial that did not kill its node gets further. Nor need
    a trial have killed the population it died with: each loss halves its next one, down to the
    trial alone, and what did not kill it ends in a half without the one that did.

    Args:
        attempts: all attempts so far, in order.
        usual: what a trial of its block occupies, or a population as a whole.
        capacity: what there is now.
        members: size of a whole population; 1 of a trial that cannot be a member of one.
    """
    held = (it.members for it in attempts if it.cause in _FAILS_AS or it.cause in _ALONE_ON)
    members = min([members, *(max(1, of_attempt // 2) for of_attempt in held)])
    if members > 1:
        return usual.part(members)
    alone = _of_trial_alone(attempts)
    needed = {_ALONE_ON[it.cause] for it in alone if it.cause in _ALONE_ON}
    if _is_suspect(alone):
        needed.add("node")
    if not needed:
        return usual
    gpus = float(math.ceil(usual.gpus)) if "device" in needed else usual.gpus
    cpus = usual.cpus
    if "node" in needed:
        plain = Demand(cpus=cpus, gpus=gpus)
        cpus = max((node.cpus for node in capacity.nodes if plain.fits_on(node)), default=cpus)
    return Demand(cpus=cpus, gpus=gpus)


def failure_of(attempts: Sequence[Attempt], had: Demand, capacity: Capacity) -> Ended | None:
    """The failure of a trial after its attempts so far, in order; None if it is retried.

    The last one occupied what it ``had``, and ended with a cause that is retried. Only attempts
    that the trial made alone are held against it.
    """
    last = attempts[-1]
    if last.members > 1:
        return None
    attempts = _of_trial_alone(attempts)
    if last.cause in _ALONE_ON:
        alone_on = _ALONE_ON[last.cause]
        was_alone = _was_alone(attempts, alone_on, had, capacity)
        return _memory_failure(attempts, alone_on) if was_alone else None
    fails_as = _FAILS_AS.get(last.cause)
    if fails_as is None or _num_fruitless(attempts, fails_as) < MAX_FRUITLESS_ATTEMPTS:
        return None
    return Ended(state="FAILED", cause=fails_as, message=_message(fails_as, last.message))


def _of_trial_alone(attempts: Sequence[Attempt]) -> tuple[Attempt, ...]:
    return tuple(attempt for attempt in attempts if attempt.members == 1)


def _is_suspect(attempts: Sequence[Attempt]) -> bool:
    """Whether one more loss makes it a failure, and a node died in one of them."""
    is_last = _num_fruitless(attempts, LOST) == MAX_FRUITLESS_ATTEMPTS - 1
    return is_last and any(attempt.cause == "lost_node" for attempt in attempts)


def _num_fruitless(attempts: Sequence[Attempt], fails_as: str) -> int:
    """Number of attempts of this cause since the trial last got further than before."""
    furthest = count = 0
    for attempt in attempts:
        reports = attempt.reports or 0
        if reports > furthest:
            furthest, count = reports, 0
        else:
            count += _FAILS_AS.get(attempt.cause) == fails_as
    return count


def _message(fails_as: str, last: str | None) -> str:
    what = {
        LOST: "its worker or node died",
        STUCK: "it got stuck",
        DEVICE: "its GPU failed",
        DATA: "its data could not be read",
    }[fails_as]
    return f"{what} {MAX_FRUITLESS_ATTEMPTS} times without an epoch in between; last: {last}"


def _was_alone(
    attempts: Sequence[Attempt], alone_on: str, had: Demand, capacity: Capacity
) -> bool:
    if alone_on == "device":
        return had.gpus == math.ceil(had.gpus)
    if capacity.max_trials == 1:
        return True
    # If its node is gone by now, what is left says nothing about what it shared that with.
    is_there = any(had.fits_on(node) for node in capacity.nodes)
    return is_there and had.cpus >= demand_of_next_attempt(attempts, had, capacity).cpus


def _memory_failure(attempts: Sequence[Attempt], alone_on: str) -> Ended:
    last = attempts[-1]
    peaks = [attempt.peak_memory_mb for attempt in attempts if attempt.peak_memory_mb is not None]
    peak = max(peaks, default=None)
    message = f"ran out of memory alone on its {alone_on}"
    if peak is not None:
        message += f": {'peak' if alone_on == 'device' else 'it held'} {_gib(peak)}"
        if last.device_memory_mb is not None:
            message += f" of {_gib(last.device_memory_mb)}"
    if not any(attempt.cause in _ALONE_ON for attempt in attempts[:-1]):
        message += " (it was alone from the start, so it was not retried)"
    if last.message:
        message += f"; {last.message}"
    return Ended(state="FAILED", cause=OUT_OF_MEMORY, message=message, peak_memory_mb=peak)


def _gib(mebibytes: float) -> str:
    return f"{mebibytes / 1024:.1f} GiB"
