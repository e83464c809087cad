"""The server of the live page, in a thread of its own, on this machine alone."""

import secrets
import socket
import threading
import time
from types import TracebackType
from typing import Self

import uvicorn

from orchestrator.results.storage.locations import Place
from podium.errors import PodiumError
from podium.live.app import live_app
from podium.live.feed import Feed

_HOST = "127.0.0.1"
_TOKEN_BYTES = 32
_GRACE_SECONDS = 3.0  # in which open pages get the last record, and the report
_POLL_SECONDS = 0.05


class LiveServer:
    """Serves the page of a study while its block runs.

    Args:
        folder: results folder of the study, which need not be there yet.
        port: port of this machine; 0 takes a free one.
        may_control: whether the page may change how the study runs.

    Attributes:
        url: address of the page, with its token.

    Raises:
        PodiumError: on construction; the port cannot be taken.
    """

    def __init__(self, folder: Place, *, port: int = 0, may_control: bool = False) -> None:
        self._socket = _listening(port)
        port = self._socket.getsockname()[1]
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self.url = f"http://{_HOST}:{port}/?token={token}"
        self._feed = Feed(folder)
        app = live_app(
            folder,
            self._feed,
            token=token,
            origins=frozenset(f"http://{host}:{port}" for host in (_HOST, "localhost")),
            may_control=may_control,
        )
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_config=None,
                log_level="error",
                access_log=False,
                server_header=False,
                ws="none",
                http="h11",
                loop="asyncio",
                timeout_graceful_shutdown=1,
            )
        )
        self._thread = threading.Thread(target=self._serve, name="live page", daemon=True)

    def __enter__(self) -> Self:
        """Start to serve."""
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(_POLL_SECONDS)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Show open pages how it ended, then end."""
        watching = self._feed.num_streams
        self._feed.close()
        if error is None:
            deadline = time.monotonic() + _GRACE_SECONDS
            while self._is_awaited(watching) and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
        self._server.should_exit = True
        self._thread.join(_GRACE_SECONDS)  # storage that hangs holds it, but not who waits here
        self._socket.close()

    def _is_awaited(self, watching: int) -> bool:
        """Whether a page has not got the last record, or not yet the report that follows it."""
        if self._feed.num_streams:
            return True
        return self._feed.is_over and self._feed.num_reports < watching

    def _serve(self) -> None:
        self._server.run(sockets=[self._socket])


def _listening(port: int) -> socket.socket:
    """A socket on this machine alone.

    Raises:
        PodiumError: the port cannot be taken.
    """
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((_HOST, port))
    except OSError as error:
        found.close()
        raise PodiumError(
            f"--port {port} cannot be taken on {_HOST}: {error.strerror}. Give another, or none:"
            " then a free one is found"
        ) from error
    return found
