"""What follows a failed attempt: the trial is retried, as it was or alone, or it fails.

Everything here follows from the attempts in the store, so a new driver decides as the old one.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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

# A lost worker is not the trial's fault, unless the trial loses it every time.
MAX_FRUITLESS_ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Retry:
    """The policy for a cause. Without either attribute it is never held against a trial.

    Attributes:
        fails_as: cause of the failure after `MAX_FRUITLESS_ATTEMPTS` attempts that got no
            further; None if such attempts say nothing about the trial.
        alone_on: what the trial gets to itself from then on; if it had that, it fails.
    """

    fails_as: str | None = None
    alone_on: Literal["device", "node"] | None = None


_POLICIES: Mapping[str, _Retry] = {
    "preempted": _Retry(),
    "lost_node": _Retry(fails_as=LOST),
    "lost_worker": _Retry(fails_as=LOST),
    "stuck": _Retry(fails_as=STUCK),
    DEVICE: _Retry(fails_as=DEVICE),
    DATA: _Retry(fails_as=DATA),
    OUT_OF_MEMORY: _Retry(alone_on="device"),
    OUT_OF_HOST_MEMORY: _Retry(alone_on="node"),
    "killed_for_memory": _Retry(alone_on="node"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a trial is not retried; the peak is in MiB."""

    cause: str
    message: str
    peak_memory_mb: float | None = None


def is_retried(cause: str | None) -> bool:
    """Whether an attempt that ended with this cause may be retried."""
    return cause in _POLICIES


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
        usual: CPUs and GPUs that trials of its block occupy, which a population does as a whole.
        capacity: CPUs, GPUs and nodes there are now.
        members: size of a whole population; 1 of a trial that cannot be a member of one.
    """
    members = min([members, *(_halved(attempt) for attempt in attempts if _is_held(attempt))])
    if members > 1:
        return usual.part(members)
    alone = _of_trial_alone(attempts)
    needed = {_policy(attempt).alone_on for attempt in alone} - {None}
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


def failure_of(attempts: Sequence[Attempt], had: Demand, capacity: Capacity) -> Failure | None:
    """The failure of a trial after its last attempt; None if it is retried.

    Only attempts that it made alone are held against it.

    Args:
        attempts: all attempts so far, in order; the last ended with a cause that is retried.
        had: CPUs and GPUs that the last one occupied.
        capacity: CPUs, GPUs and nodes there are now.
    """
    last = attempts[-1]
    policy = _policy(last)
    if last.members > 1:
        return None
    attempts = _of_trial_alone(attempts)
    if policy.alone_on is not None:
        was_alone = _was_alone(attempts, policy.alone_on, had, capacity)
        return _memory_failure(attempts, policy.alone_on) if was_alone else None
    if (
        policy.fails_as is None
        or _num_fruitless(attempts, policy.fails_as) < MAX_FRUITLESS_ATTEMPTS
    ):
        return None
    return Failure(cause=policy.fails_as, message=_message(policy.fails_as, last.message))


def _policy(attempt: Attempt) -> _Retry:
    """The policy for its cause; an attempt that did not end, or was stopped, says nothing."""
    return _POLICIES.get(attempt.cause or "", _Retry())


def _is_held(attempt: Attempt) -> bool:
    """Whether its end may be the trial's own fault."""
    return _policy(attempt) != _Retry()


def _halved(attempt: Attempt) -> int:
    return max(1, attempt.members // 2)


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
            count += _policy(attempt).fails_as == fails_as
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


def _memory_failure(attempts: Sequence[Attempt], alone_on: str) -> Failure:
    last = attempts[-1]
    peaks = [attempt.peak_memory_mb for attempt in attempts if attempt.peak_memory_mb is not None]
    peak = max(peaks, default=None)
    message = f"ran out of memory alone on its {alone_on}"
    if peak is not None:
        message += f": {'peak' if alone_on == 'device' else 'it held'} {_gib(peak)}"
        if last.device_memory_mb is not None:
            message += f" of {_gib(last.device_memory_mb)}"
    if not any(_policy(attempt).alone_on for attempt in attempts[:-1]):
        message += " (it was alone from the start, so it was not retried)"
    if last.message:
        message += f"; {last.message}"
    return Failure(cause=OUT_OF_MEMORY, message=message, peak_memory_mb=peak)


def _gib(mebibytes: float) -> str:
    return f"{mebibytes / 1024:.1f} GiB"
