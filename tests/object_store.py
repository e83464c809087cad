"""Services on loopback: S3 (moto), a proxy before it that misbehaves as told, Google's, Azure's.

Google's is moto behind a proxy that translates the few headers in which Google's XML interface
differs; Azure's is Azurite, from npm, where this machine has it. A bucket in memory is for tests
that need any remote store.
"""

import base64
import hmac
import http.client
import itertools
import os
import re
import shutil
import socket
import struct
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from email.utils import formatdate
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest

from podium.orchestrator.results.storage import object_store
from podium.orchestrator.results.storage.locations import Place, parse_place

KEY, SECRET = "AKIAPODIUMTESTS", "the/Secret+of-podiums-tests"
SLOW_DOWN = (
    b'<?xml version="1.0"?><Error><Code>SlowDown</Code>'
    b"<Message>Reduce your request rate. %s</Message></Error>" % KEY.encode()
)
AZURITE_ACCOUNT = "devstoreaccount1"
AZURITE_KEY = (  # of every Azurite, in its documentation
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)
_DELETED = re.compile(rb"<Key>([^<]+)</Key>")
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


def new_bucket(service: str, through: str, scheme: str = "s3") -> Place:
    """A new bucket of the service, reached at the address ``through``."""
    name = new_name()
    request = urllib.request.Request(f"http://{service}/{name}", method="PUT")
    with urllib.request.urlopen(request, timeout=30):
        pass
    return parse_place(f"{scheme}://{name}?scheme=http&endpoint_override={through}")


def new_name() -> str:
    return f"podium-{os.getpid()}-{next(_numbers)}"


@pytest.fixture
def memory_bucket(monkeypatch: pytest.MonkeyPatch) -> Place:
    """A bucket in the memory of this process."""
    from obstore.store import MemoryStore

    real = object_store.open_client

    @cache
    def opened(scheme: str, authority: str, query: str, process: int) -> object:
        return MemoryStore() if scheme == "memory" else real(scheme, authority, query, process)

    monkeypatch.setattr(object_store, "open_client", opened)
    return parse_place(f"memory://{new_name()}")


@pytest.fixture
def google_bucket(s3_service: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A bucket by the protocol of Google."""
    monkeypatch.setenv("GOOGLE_BEARER_TOKEN", SECRET)
    with proxied(s3_service, "gs") as (_, bucket):
        yield bucket


@pytest.fixture(scope="session")
def azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Host and port of Azurite."""
    program = shutil.which("azurite-blob")
    if program is None:
        pytest.skip("needs azurite-blob on the PATH (npm install -g azurite)")
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        port = chosen.getsockname()[1]
    options = {
        "--blobHost": "127.0.0.1",
        "--blobPort": str(port),
        "--location": str(tmp_path_factory.mktemp("azurite")),
    }
    words = [program, "--silent", "--skipApiVersionCheck", *itertools.chain(*options.items())]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as server:
        wait_for(port)
        yield f"127.0.0.1:{port}"
        server.terminate()


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.1)
    raise TimeoutError(f"nothing listens on port {port}")


@pytest.fixture
def azure_container(azurite: str, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A container by the protocol of Azure."""
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", AZURITE_KEY)
    name = new_name()
    address, date = f"/{AZURITE_ACCOUNT}/{name}", formatdate(usegmt=True)
    lines = ["PUT", *[""] * 11, f"x-ms-date:{date}", "x-ms-version:2021-08-06"]
    text = "\n".join([*lines, f"/{AZURITE_ACCOUNT}{address}", "restype:container"])
    digest = hmac.new(base64.b64decode(AZURITE_KEY), text.encode(), "sha256").digest()
    signature = base64.b64encode(digest).decode()
    request = urllib.request.Request(
        f"http://{azurite}{address}?restype=container",
        method="PUT",
        headers={
            "x-ms-date": date,
            "x-ms-version": "2021-08-06",
            "Authorization": f"SharedKey {AZURITE_ACCOUNT}:{signature}",
        },
    )
    with urllib.request.urlopen(request, timeout=30):
        pass
    account = f"{AZURITE_ACCOUNT}.dfs.core.windows.net"
    service = f"{azurite}/{AZURITE_ACCOUNT}"
    return parse_place(f"abfs://{name}@{account}?scheme=http&endpoint_override={service}")


class Proxy(ThreadingHTTPServer):
    """Passes requests on to a service, unless ``fault`` says otherwise; Google's are translated.

    ``fault`` is called with method and path of each request, and answers None, ``slow down``
    (503), ``origin timed out`` (522, as of Cloudflare), ``not implemented`` (501), ``forbidden``
    (403), ``reset`` (the connection breaks before the service hears of it), ``lose answer`` (it
    breaks after), or a number of seconds to wait first. ``requests`` names them, with the object
    that one deletes.
    """

    daemon_threads = True

    def __init__(self, service: str, *, is_google: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.service = service
        self.is_google = is_google
        self.fault: Callable[[str, str], str | float | None] = lambda method, path: None
        self.requests: list[tuple[str, str]] = []
        self.statuses: list[int] = []

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
        deleted = _DELETED.findall(body) if self.command == "POST" else []
        named = f"&{unquote(deleted[0].decode())}" if len(deleted) == 1 else ""
        self.server.requests.append((self.command, f"{self.path}{named}"))
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
            path, headers = self.path, dict(self.headers)
            if self.server.is_google:
                path, headers = path.replace("%2D", "-"), amazons(headers)
            link.request(self.command, path, body, headers)
            found = link.getresponse()
            content = found.read()
        finally:
            link.close()
        if fault == "lose answer":
            return self._break()
        return self._answer(
            found.status,
            googles(found.getheaders()) if self.server.is_google else found.getheaders(),
            content,
        )

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_one

    def _answer(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        self.server.statuses.append(status)
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


def amazons(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of a request to Google as one to Amazon has them."""
    translated = {
        name.lower().replace("x-goog-meta-", "x-amz-meta-"): value
        for name, value in headers.items()
    }
    generation = translated.pop("x-goog-if-generation-match", None)
    if generation == "0":
        translated["if-none-match"] = "*"
    elif generation is not None:
        translated["if-match"] = f"{int(generation):032x}"
    # moto checks no signature, but answers requests without one otherwise.
    credential = f"Credential={KEY}/20260101/us-east-1/s3/aws4_request"
    translated["authorization"] = f"AWS4-HMAC-SHA256 {credential}, SignedHeaders=host, Signature=0"
    return translated


def googles(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers of an answer, and its metadata by Google's names too.

    The generation, which is a number there, says what the tag does.
    """
    mark = "x-amz-meta-"
    named = [(name.lower(), value) for name, value in headers]
    tag = dict(named).get("etag", "").strip('"')
    return [
        *headers,
        *([("x-goog-generation", str(int(tag, 16)))] if tag else []),
        *((n.replace(mark, "x-goog-meta-"), v) for n, v in named if n.startswith(mark)),
    ]


@contextmanager
def proxied(service: str, scheme: str = "s3") -> Iterator[tuple[Proxy, Place]]:
    """A proxy, and a new bucket that is reached through it."""
    with Proxy(service, is_google=scheme == "gs") as proxy:
        thread = threading.Thread(target=proxy.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield proxy, new_bucket(service, proxy.address, scheme)
        finally:
            proxy.shutdown()
            thread.join()
