"""What becomes of a try that ended badly: the trial is tried again, as it was or alone, or fails.

Everything here follows from the attempts in the store, so a new driver decides as the old one.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from orchestrator.results.records.attempts import Attempt
from orchestrator.study.resource_demand import Capacity, Demand
from orchestrator.trials.failure_causes import (
    DATA,
    DEVICE,
    LOST,
    OUT_OF_HOST_MEMORY,
    OUT_OF_MEMORY,
    STUCK,
)

__all__ = ["MAX_IN_VAIN", "Failure", "demand_of_next", "failure_of", "is_retried"]

# A lost worker is not the trial's fault, but a trial that takes it down every time is at fault.
MAX_IN_VAIN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Retry:
    """The policy for a cause.

    Attributes:
        fails_as: cause of the failure after `MAX_IN_VAIN` tries that came no further; None if
            such tries say nothing about the trial.
        alone_on: what the trial gets to itself from then on; if it had that, it fails.
    """

    fails_as: str | None = None
    alone_on: Literal["device", "node"] | None = None


_POLICIES: Mapping[str, _Retry] = {
    "preempted": _Retry(),
    "lost_node": _Retry(fails_as=LOST),
    "lost_worker": _Retry(fails_as=LOST),
    LOST: _Retry(fails_as=LOST),  # of stores from before causes were told apart
    "stuck": _Retry(fails_as=STUCK),
    DEVICE: _Retry(fails_as=DEVICE),
    DATA: _Retry(fails_as=DATA),
    OUT_OF_MEMORY: _Retry(alone_on="device"),
    OUT_OF_HOST_MEMORY: _Retry(alone_on="node"),
    "killed_for_memory": _Retry(alone_on="node"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a trial is not tried again."""

    cause: str
    message: str
    peak_memory_mb: float | None = None


def is_retried(cause: str | None) -> bool:
    """Whether a try that ended so may be made again."""
    return cause in _POLICIES


def demand_of_next(tries: Sequence[Attempt], usual: Demand, capacity: Capacity) -> Demand:
    """What the next try occupies: more than usual if memory ran out, or nodes died, before.

    Trials that die with a node need not have killed it. So the last try before a trial fails for
    that has a node to itself: who is innocent gets further there.

    Args:
        tries: all so far.
        usual: what trials of its kind occupy.
        capacity: what there is now.
    """
    needed = {_policy(attempt).alone_on for attempt in tries}
    if _is_suspect(tries):
        needed.add("node")
    gpus = float(math.ceil(usual.gpus)) if "device" in needed else usual.gpus
    cpus = usual.cpus
    if "node" in needed:
        plain = Demand(cpus=cpus, gpus=gpus)
        cpus = max((node.cpus for node in capacity.nodes if plain.fits_on(node)), default=cpus)
    return Demand(cpus=cpus, gpus=gpus)


def failure_of(tries: Sequence[Attempt], had: Demand, capacity: Capacity) -> Failure | None:
    """Whether a trial fails after its last try; None if it is tried again.

    Args:
        tries: all so far; the last one ended with a cause that is retried.
        had: what the last one occupied.
        capacity: what there is now.
    """
    last = tries[-1]
    policy = _policy(last)
    if policy.alone_on is not None:
        was_alone = _was_alone(tries, policy.alone_on, had, capacity)
        return _memory_failure(tries, policy.alone_on) if was_alone else None
    if policy.fails_as is None or _num_in_vain(tries, policy.fails_as) < MAX_IN_VAIN:
        return None
    return Failure(cause=policy.fails_as, message=_told(policy.fails_as, last.message))


def _policy(attempt: Attempt) -> _Retry:
    """That of its cause; a try that did not end, or was stopped, says nothing."""
    return _POLICIES.get(attempt.cause or "", _Retry())


def _is_suspect(tries: Sequence[Attempt]) -> bool:
    """Whether one more loss makes it a failure, and a node was among those that are lost."""
    is_last = _num_in_vain(tries, LOST) == MAX_IN_VAIN - 1
    return is_last and any(attempt.cause == "lost_node" for attempt in tries)


def _num_in_vain(tries: Sequence[Attempt], fails_as: str) -> int:
    """Tries that ended so since the trial last came further than ever before."""
    furthest = count = 0
    for attempt in tries:
        reports = attempt.reports or 0
        if reports > furthest:
            furthest, count = reports, 0
        else:
            count += _policy(attempt).fails_as == fails_as
    return count


def _told(fails_as: str, last: str | None) -> str:
    what = {
        LOST: "its worker or node died",
        STUCK: "it got stuck",
        DEVICE: "its GPU failed",
        DATA: "its data could not be read",
    }[fails_as]
    return f"{what} {MAX_IN_VAIN} times without an epoch in between; last: {last}"


def _was_alone(tries: Sequence[Attempt], alone_on: str, had: Demand, capacity: Capacity) -> bool:
    if alone_on == "device":
        return had.gpus == math.ceil(had.gpus)
    if capacity.max_trials == 1:
        return True
    # If its node is gone by now, what is left says nothing about what it shared that with.
    is_there = any(had.fits_on(node) for node in capacity.nodes)
    return is_there and had.cpus >= demand_of_next(tries, had, capacity).cpus


def _memory_failure(tries: Sequence[Attempt], alone_on: str) -> Failure:
    last = tries[-1]
    peaks = [attempt.peak_memory_mb for attempt in tries if attempt.peak_memory_mb is not None]
    peak = max(peaks, default=None)
    message = f"ran out of memory alone on its {alone_on}"
    if peak is not None:
        message += f": {'peak' if alone_on == 'device' else 'it held'} {_gib(peak)}"
        if last.device_memory_mb is not None:
            message += f" of {_gib(last.device_memory_mb)}"
    if not any(_policy(attempt).alone_on for attempt in tries[:-1]):
        message += " (it was alone from the start, so it was not tried again)"
    if last.message:
        message += f"; {last.message}"
    return Failure(cause=OUT_OF_MEMORY, message=message, peak_memory_mb=peak)


def _gib(mebibytes: float) -> str:
    return f"{mebibytes / 1024:.1f} GiB"
