"""A real S3 service on loopback (moto), and a proxy before it that misbehaves as told."""

import http.client
import itertools
import os
import socket
import struct
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from orchestrator.results.storage.locations import Place, parse_place

__all__ = ["KEY", "SECRET", "Proxy", "bucket", "proxied", "s3_service"]

KEY, SECRET = "AKIAPODIUMTESTS", "the/Secret+of-podiums-tests"
SLOW_DOWN = (
    b'<?xml version="1.0"?><Error><Code>SlowDown</Code>'
    b"<Message>Reduce your request rate. %s</Message></Error>" % KEY.encode()
)
_numbers = itertools.count()


@pytest.fixture(scope="session")
def s3_service() -> Iterator[str]:
    """Host and port of a service for all tests; credentials stand in the environment."""
    from moto.server import ThreadedMotoServer

    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patch.delenv(name)
        patch.setenv("AWS_ACCESS_KEY_ID", KEY)
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patch.setenv("AWS_CONFIG_FILE", os.devnull)
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        yield f"{host}:{port}"
        server.stop()


@pytest.fixture
def bucket(s3_service: str) -> Place:
    """A bucket of one test."""
    return new_bucket(s3_service, s3_service)


def new_bucket(service: str, through: str) -> Place:
    """A new bucket of the service, reached at the address ``through``."""
    name = f"podium-{os.getpid()}-{next(_numbers)}"
    request = urllib.request.Request(f"http://{service}/{name}", method="PUT")
    with urllib.request.urlopen(request, timeout=30):
        pass
    return parse_place(f"s3://{name}?scheme=http&endpoint_override={through}")


class Proxy(ThreadingHTTPServer):
    """Passes requests on to a service, unless ``fault`` says otherwise.

    ``fault`` is called with method and path of each request, and answers None, ``slow down``
    (503), ``origin timed out`` (522, as of Cloudflare), ``not implemented`` (501), ``forbidden``
    (403), ``reset`` (the connection breaks before the service hears of it), ``lose answer`` (it
    breaks after), or a number of seconds to wait first.
    """

    daemon_threads = True

    def __init__(self, service: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.service = service
        self.fault: Callable[[str, str], str | float | None] = lambda method, path: None
        self.requests: list[tuple[str, str]] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address):
        """Clients may leave in the middle."""


class _Handler(BaseHTTPRequestHandler):
    server: Proxy
    protocol_version = "HTTP/1.1"

    def handle_one(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append((self.command, self.path))
        fault = self.server.fault(self.command, self.path)
        if isinstance(fault, float | int):
            time.sleep(fault)
        elif fault == "slow down":
            return self._answer(503, [], SLOW_DOWN)
        elif fault == "origin timed out":
            return self._answer(522, [], b"")
        elif fault == "not implemented":
            return self._answer(501, [], SLOW_DOWN.replace(b"SlowDown", b"NotImplemented"))
        elif fault == "forbidden":
            return self._answer(403, [], SLOW_DOWN.replace(b"SlowDown", b"AccessDenied"))
        elif fault == "reset":
            return self._break()
        link = http.client.HTTPConnection(self.server.service, timeout=60)
        try:
            link.request(self.command, self.path, body, dict(self.headers))
            found = link.getresponse()
            content = found.read()
        finally:
            link.close()
        if fault == "lose answer":
            return self._break()
        return self._answer(found.status, found.getheaders(), content)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_one

    def _answer(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("content-length", "connection", "transfer-encoding"):
                self.send_header(name, value)
        length = dict(headers).get("Content-Length") if self.command == "HEAD" else None
        self.send_header("Content-Length", length or str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _break(self) -> None:
        """End the connection by a reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def finish(self) -> None:
        if self.connection.fileno() >= 0:
            super().finish()

    def log_message(self, format, *arguments):
        """Not on the terminal."""


@contextmanager
def proxied(service: str) -> Iterator[tuple[Proxy, Place]]:
    """A proxy, and a new bucket that is reached through it."""
    with Proxy(service) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield proxy, new_bucket(service, proxy.address)
        finally:
            proxy.shutdown()
            thread.join()
