"""The server of the live page: it reads, on this machine alone, and for who has its address."""

import base64
import hashlib
import json
import secrets
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from urllib.parse import parse_qs, unquote, urlsplit

from podium.errors import PodiumError
from podium.live.followed_study import FollowedStudy
from podium.orchestrator.redaction import redacted
from podium.orchestrator.results.records.store_paths import StudyPaths, is_file_name
from podium.orchestrator.results.storage.files import read_bytes
from podium.orchestrator.results.storage.locations import Place, RemotePath
from podium.terminal.live_progress import progress_line

_HOST = "127.0.0.1"
_LOG_CHARACTERS = 8_000  # of the end of a log
_READ_SECONDS, _REMOTE_READ_SECONDS = 1.5, 30.0
_REST = 20  # times as long as reading took: about 5 % of a core
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# A report may come from anyone: in a sandbox it is of no origin, and it reaches no server.
_REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-modals allow-popups; default-src 'none';"
    " img-src data: blob:; style-src 'unsafe-inline'; script-src 'unsafe-inline';"
    " frame-ancestors 'none'"
)


class LiveServer(ThreadingHTTPServer):
    """Serves the page of a study to who has its address.

    Args:
        folder: results folder of the study.
        port: port of this machine; 0 takes a free one.

    Attributes:
        url: address of the page, with its token.

    Raises:
        PodiumError: on construction; the port cannot be taken, or the folder holds no study.
    """

    daemon_threads = True

    def __init__(self, folder: Place, *, port: int = 0) -> None:
        self._followed = FollowedStudy(folder)
        self.paths = StudyPaths(folder)
        try:
            super().__init__((_HOST, port), _Answers)
        except OSError as error:
            raise PodiumError(
                f"--port {port} cannot be taken on {_HOST}: {error.strerror}. Give another, or"
                " none: then a free one is found"
            ) from error
        self.token = secrets.token_urlsafe(32)
        self.url = f"http://{_HOST}:{self.server_port}/?token={self.token}"
        is_remote = isinstance(folder, RemotePath)
        self._pause = _REMOTE_READ_SECONDS if is_remote else _READ_SECONDS
        self._reading = threading.Lock()
        self._due = self._read_at = 0.0
        self._record: dict[str, object] = {}

    def record(self) -> dict[str, object]:
        """What is known of the study, read again if it may have changed, and its age in seconds.

        Who asks while another reads gets what was read before.
        """
        if time.monotonic() >= self._due and self._reading.acquire(blocking=not self._record):
            try:
                self._read()
            finally:
                self._reading.release()
        return {**self._record, "age": round(time.monotonic() - self._read_at)}

    def _read(self) -> None:
        began = time.monotonic()
        try:
            view = self._followed.view()
            self._record = {
                **asdict(view),
                "curves": self._followed.curves(),
                "totals": progress_line(view.progress),
                "problem": "",
            }
            self._read_at = time.monotonic()
        except PodiumError as error:
            self._record = {**self._record, "problem": redacted(str(error))}
        now = time.monotonic()
        self._due = now + max(self._pause, _REST * (now - began))


class _Answers(BaseHTTPRequestHandler):
    server: LiveServer
    timeout = 20.0  # seconds for a request; who connects and says nothing holds no thread

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        token = parse_qs(asked.query).get("token", [""])[0]
        if self.headers.get("Host", "").partition(":")[0] not in (_HOST, "localhost"):
            # Another name that leads to this machine would be another site's.
            self._send(400, "text/plain", b"The host is another than that of the address.\n")
        elif not secrets.compare_digest(token.encode(), self.server.token.encode()):
            self._send(403, "text/plain", b"The address lacks its token.\n")
        elif asked.path == "/":
            page, policy = live_page()
            self._send(200, "text/html", page, policy)
        elif asked.path == "/study":
            self._send(200, "application/json", json.dumps(self.server.record()).encode())
        else:
            try:
                self._send_file(unquote(asked.path))
            except PodiumError as error:
                self._send(500, "text/plain", redacted(str(error)).encode())

    def _send_file(self, path: str) -> None:
        """The report, or the end of the log of a trial, secrets removed."""
        paths, trial_id = self.server.paths, path.removeprefix("/log/")
        if path == "/report" and (report := read_bytes(paths.report)):
            self._send(200, "text/html", report, _REPORT_POLICY)
        elif is_file_name(trial_id) and (log := read_bytes(paths.trial_log(trial_id))):
            shown = redacted(log.decode(errors="replace"))[-_LOG_CHARACTERS:]
            self._send(200, "text/plain", shown.encode())
        else:
            self._send(404, "text/plain", b"There is no such report or log.\n")

    def _send(self, status: int, kind: str, content: bytes, policy: str = "") -> None:
        self.send_response(status)
        headers = {"Content-Security-Policy": policy or "default-src 'none'", **_HEADERS}
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        with suppress(ConnectionError):  # a page that was closed
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: lines would have the token."""


@cache
def live_page() -> tuple[bytes, str]:
    """The page as one file, and its Content-Security-Policy: its own script runs alone."""
    ours = resources.files("podium.live") / "templates"
    style = (resources.files("podium.analysis.page") / "templates" / "page.css").read_text("utf-8")
    style += (ours / "live.css").read_text("utf-8")
    script = (ours / "live.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = (ours / "live.html").read_text("utf-8")
    policy = (
        "default-src 'none'; connect-src 'self'; img-src data:; style-src 'unsafe-inline';"
        f" script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none';"
        " frame-ancestors 'none'"
    )
    return page.replace("STYLE", style, 1).replace("SCRIPT", script, 1).encode(), policy
