"""The application of the live page: its routes and what they answer."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from orchestrator.redaction import redacted
from orchestrator.results.records.store_paths import StudyPaths, is_file_name
from orchestrator.results.storage.files import read_bytes, read_record
from orchestrator.results.storage.locations import Place
from podium.errors import PodiumError
from podium.live.control import change_control
from podium.live.feed import Feed
from podium.live.guard import Guard
from podium.live.page import live_page

_LOG_CHARACTERS = 8_000  # of the end of a log
_CONTROL_BYTES = 4096
_READ_SECONDS = 2.0  # for which a page waits: a large study is read while it is open
# A report may come from anyone: in a sandbox it is of no origin, and it reaches no server.
_REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-modals allow-popups; default-src 'none';"
    " img-src data: blob:; style-src 'unsafe-inline'; script-src 'unsafe-inline';"
    " frame-ancestors 'none'"
)


def live_app(
    folder: Place, feed: Feed, *, token: str, origins: frozenset[str], may_control: bool
) -> Starlette:
    """The application.

    Args:
        folder: results folder of the study.
        feed: what is known of it.
        token: what the address of every request holds.
        origins: origins of the server's own pages.
        may_control: whether a page may change how the study runs.
    """
    answers = _Answers(folder, feed, may_control=may_control)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        reading = asyncio.create_task(feed.keep_reading())
        yield
        await reading

    return Starlette(
        routes=[
            Route("/", answers.page),
            Route("/events", answers.events),
            Route("/log/{trial_id}", answers.log),
            Route("/control", answers.control, methods=["POST"]),
        ],
        middleware=[
            # Another name that leads to this machine would be another site's.
            Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"]),
            Middleware(Guard, token=token, origins=origins),
        ],
        lifespan=lifespan,
    )


class _Answers:
    def __init__(self, folder: Place, feed: Feed, *, may_control: bool) -> None:
        self._folder = folder
        self._paths = StudyPaths(folder)
        self._feed = feed
        self._may_control = may_control

    async def page(self, request: Request) -> Response:
        """The report of a study that has ended, else the page that follows it."""
        reading = asyncio.create_task(asyncio.to_thread(self._feed.read))
        await asyncio.wait({reading}, timeout=_READ_SECONDS)
        if self._feed.is_over:
            report = await asyncio.to_thread(read_bytes, self._paths.report)
            if report is not None:
                return HTMLResponse(
                    report,
                    headers={"Content-Security-Policy": _REPORT_POLICY},
                    background=BackgroundTask(self._feed.count_report),  # once it was sent
                )
        page = live_page(self._folder.name, may_control=self._may_control)
        return HTMLResponse(page.html, headers={"Content-Security-Policy": page.policy})

    async def events(self, request: Request) -> Response:
        """The record of the study, and what changes in it, as server-sent events."""

        async def lines() -> AsyncIterator[str]:
            yield "retry: 3000\n\n"
            async for changed in self._feed.changes():
                yield f"data: {json.dumps(changed)}\n\n"

        return StreamingResponse(lines(), media_type="text/event-stream")

    async def log(self, request: Request) -> Response:
        """The end of the log of a trial."""
        trial_id = request.path_params["trial_id"]
        if not is_file_name(trial_id):
            return PlainTextResponse("That is no id of a trial.\n", status_code=404)
        try:
            text = await asyncio.to_thread(self._log_of, trial_id)
        except PodiumError as error:
            return PlainTextResponse(f"{redacted(str(error))}\n", status_code=500)
        if text is None:
            return PlainTextResponse("This trial has no log.\n", status_code=404)
        return PlainTextResponse(text)

    async def control(self, request: Request) -> Response:
        """Change how the study runs."""
        if not self._may_control:
            return PlainTextResponse(
                "This page only reads: start podium with --control to change the study.\n",
                status_code=403,
            )
        try:
            wanted = _object(await _short_body(request))
            said = await asyncio.to_thread(change_control, self._paths, wanted)
        except PodiumError as error:
            return PlainTextResponse(f"{redacted(str(error))}\n", status_code=400)
        return PlainTextResponse(f"{said}\n")

    def _log_of(self, trial_id: str) -> str | None:
        content = read_record(self._paths.trial_log(trial_id))
        if content is None:
            return None
        return redacted(content.decode(errors="replace"))[-_LOG_CHARACTERS:]


async def _short_body(request: Request) -> bytes:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _CONTROL_BYTES:
            raise PodiumError(f"a change must have at most {_CONTROL_BYTES} bytes")
    return body


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        wanted = json.loads(body)
    except ValueError:
        wanted = None
    if not isinstance(wanted, dict):
        raise PodiumError("a change must be a JSON object")
    return wanted
