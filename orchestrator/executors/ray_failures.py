"""Why a trial was lost, from the errors that Ray raises when an actor is gone."""

import re
from collections.abc import Callable
from typing import Any

from ray import exceptions
from ray._private import state
from ray.air.execution._internal import RayActorManager

from podium.orchestrator.redaction import redacted
from podium.orchestrator.scheduling.executor_interface import Loss

# What Ray writes; for each, `tests/orchestrator/executors/test_ray_failures.py` kills real
# processes.
_NODE_DIED = "its node has died"
_NODE = re.compile(r"the actor's node was (terminated .*)")
_PID, _ADDRESS = re.compile(r"^\s*pid: (\d+)$", re.M), re.compile(r"^\s*ip: (\S+)$", re.M)


def loss_of(error: Exception | None) -> Loss:
    """The loss behind the error that ended a trial."""
    text = str(error)
    if isinstance(error, exceptions.OutOfMemoryError):
        return Loss(cause="killed_for_memory", message=redacted(text.strip().splitlines()[0]))
    where = f"the node {_found(_ADDRESS, text)}"
    if isinstance(error, exceptions.RayActorError) and error.preempted:
        return Loss(cause="preempted", message=f"{where} was taken away with notice")
    if _NODE_DIED in text or isinstance(error, exceptions.ObjectLostError):
        return Loss(cause="lost_node", message=f"{where} died: {_found(_NODE, text)}")
    if isinstance(error, exceptions.RayActorError):
        process = f"the process {_found(_PID, text)} on {address_in(error) or 'unknown'}"
        return Loss(cause="lost_worker", message=f"{process} died while it ran the trial")
    return Loss(cause="lost_worker", message=redacted(text.strip().splitlines()[-1]))


def address_in(error: Exception | None) -> str | None:
    """Address of the node that the actor was on; None if unknown."""
    match = _ADDRESS.search(str(error))
    if match:
        return match[1]
    actor_id = getattr(error, "actor_id", None)
    if actor_id is None:
        return None
    # If the connection broke a moment ago, the error only says which actor it was.
    known: Any = state.actors(actor_id)
    return known.get("Address", {}).get("IPAddress") or None


def cannot_start(error: Exception | None) -> str | None:
    """What a worker raised before it could take a trial; None if it was lost in another way."""
    if isinstance(error, exceptions.RayActorError) and error.actor_init_failed:
        return redacted(str(error).strip().splitlines()[-1])
    return None


def recording_actor_manager(note: Callable[[Exception], None]) -> type[RayActorManager]:
    """Tune's manager of actors, fixed so that every error of Ray ends one trial, not the run.

    Ray raises `OutOfMemoryError` where it killed an actor because memory was short, and
    `ObjectLostError` where what an actor said was lost with its node. Tune knows neither, and ends
    the run with all its trials before it asks any callback. The error is noted before Tune has it.
    """

    class Manager(RayActorManager):
        def _actor_start_failed(self, tracked_actor: Any, exception: Exception) -> None:
            note(exception)
            super()._actor_start_failed(tracked_actor, _as_tune_knows_it(exception))

        def _actor_task_failed(self, tracked_actor_task: Any, exception: Exception) -> None:
            note(exception)
            super()._actor_task_failed(tracked_actor_task, _as_tune_knows_it(exception))

    return Manager


def _as_tune_knows_it(error: Exception) -> Exception:
    if isinstance(error, exceptions.RayActorError | exceptions.RayTaskError):
        return error
    if isinstance(error, exceptions.RayError):
        return exceptions.RayActorError(error_msg=str(error))
    return error


def _found(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1] if match else "unknown"
