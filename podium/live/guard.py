"""Who may ask: those who know the token, from a page of this server."""

import secrets
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_HEADER = "X-Podium-Token"

_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)


class Guard:
    """Refuses requests without the token with 403, and adds headers to every answer.

    What only reads has the token in its address; what changes something has it in a header, which
    pages of other servers cannot set, and comes from one of the server's own origins.

    Args:
        app: what answers those that pass.
        token: the token.
        origins: origins of the server's own pages.
    """

    def __init__(self, app: ASGIApp, *, token: str, origins: frozenset[str]) -> None:
        self._app = app
        self._token = token.encode()
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *_HEADERS]}
            await send(message)

        if self._may_pass(scope):
            await self._app(scope, receive, send_guarded)
        else:
            refusal = PlainTextResponse("The address lacks its token.\n", status_code=403)
            await refusal(scope, receive, send_guarded)

    def _may_pass(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        if scope["method"] in ("GET", "HEAD"):
            given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        elif headers.get("origin") in self._origins:
            given = headers.get(TOKEN_HEADER, "")
        else:
            return False
        return secrets.compare_digest(given.encode(), self._token)
