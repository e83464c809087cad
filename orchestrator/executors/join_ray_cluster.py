"""Joins a Ray cluster that is there: what keeps one from it is said in a sentence, and soon.

Left to itself, Ray asks an address at which nobody is for minutes, and ends in a traceback.
"""

import socket
import time
from typing import Any

# isort: off
import orchestrator.executors.ray_environment  # noqa: F401 - Ray reads it when it is imported
import ray

# isort: on
from ray._private.services import canonicalize_bootstrap_address
from ray.exceptions import AuthenticationError, RayError

from orchestrator.results.errors import PodiumError

__all__ = ["check_address", "join"]

_PATIENCE_SECONDS, _CONNECT_SECONDS, _PAUSE_SECONDS = 15.0, 5.0, 0.5
_TOKEN = (
    "Ray reads the token from ~/.ray/auth_token, the file in RAY_AUTH_TOKEN_PATH, or"
    " RAY_AUTH_TOKEN; RAY_AUTH_MODE=disabled joins a cluster that demands none (docs/clusters.md)"
)


def join(address: str, **options: Any) -> None:
    """Join the cluster at ``auto`` or ``HOST:PORT``.

    Args:
        address: of its head.
        options: of `ray.init`.

    Raises:
        PodiumError: there is none, or it does not let us in.
    """
    head = check_address(address)
    _wait_for(head)
    try:
        ray.init(address=head, **options)
    except AuthenticationError as error:
        raise PodiumError(
            f"the Ray cluster at {head} does not let this run in: {_first_line(error)}. {_TOKEN}"
        ) from None
    except (RayError, RuntimeError, ConnectionError) as error:
        raise PodiumError(
            f"the Ray cluster at {head} cannot be joined: {_first_line(error)}. It may demand"
            f" another token, or run another version of Ray or Python. {_TOKEN}"
        ) from None


def check_address(address: str) -> str:
    """The head that an address names, as ``HOST:PORT``.

    Raises:
        PodiumError: it is no address, or there is no cluster on this machine.
    """
    rule = "--address must be auto, or HOST:PORT of the head of a Ray cluster"
    if address == "local" or "://" in address:
        raise PodiumError(f"{rule}; got {address}")
    try:
        head = canonicalize_bootstrap_address(address)
    except ConnectionError:
        raise PodiumError(
            "--address auto finds no Ray cluster on this machine. Start one (docs/clusters.md),"
            " name its head as HOST:PORT, or leave --address out"
        ) from None
    except (OSError, ValueError):
        head = None
    if head is None or not head.rpartition(":")[2].isdigit():
        raise PodiumError(f"{rule}; got {address}")
    return head


def _wait_for(head: str) -> None:
    host, _, port = head.rpartition(":")
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
        except (OSError, OverflowError) as error:
            if time.monotonic() > deadline or isinstance(error, socket.gaierror | OverflowError):
                raise PodiumError(f"no Ray cluster answers at {head}: {error}") from None
        else:
            return
        time.sleep(_PAUSE_SECONDS)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].partition(". ")[0].rstrip(".")
