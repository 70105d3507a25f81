"""Requests to an ASGI application, without a socket."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.checks.failure import CheckFailure

__all__ = ["exchange", "post"]

App = Callable[[dict[str, Any], Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Any]


@dataclass
class Reply:
    """What came back, and `taken`: how many bytes of the request's body the application asked for."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    taken: int = 0

    def json(self, call: str) -> Any:
        """The body as strict JSON, which knows neither NaN nor Infinity."""

        def refuse(name: str) -> None:
            raise ValueError(f"{name} is no JSON")

        try:
            return json.loads(self.body.decode(), parse_constant=refuse)
        except ValueError as error:
            raise CheckFailure(
                f"the body of the response to {call} is no JSON",
                yours=f"{self.status}: {self.body[:200]!r}",
                error=str(error),
            ) from None


async def exchange(
    app: App,
    method: str,
    path: str,
    body: bytes | Iterable[bytes] = b"",
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """Send one request and collect the response.

    An error that the application raises is answered as a server does: with status 500, unless a response
    has begun. A body of bytes comes with its Content-Length, as clients send it; one in chunks, which may be
    endless, without.

    Example:
        def test_two_at_once(answer):
            async def main():
                both = (exchange(answer.app, "POST", "/sum", b"[1, 2]") for _ in range(2))
                return [reply.status for reply in await asyncio.gather(*both)]

            expect_equal(asyncio.run(main()), [200, 200], "the status of two requests")
    """
    reply, done = Reply(), asyncio.Event()
    chunks = iter((body,) if isinstance(body, bytes) else body)
    ahead = [next(chunks, b"")]

    async def receive() -> dict[str, Any]:
        if not ahead:
            await done.wait()
            return {"type": "http.disconnect"}
        await asyncio.sleep(0)  # other requests have their turn, as between the packets of a network
        chunk = ahead.pop()
        following = next(chunks, None)
        if following is not None:
            ahead.append(following)
        reply.taken += len(chunk)
        return {"type": "http.request", "body": chunk, "more_body": bool(ahead)}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            reply.status = message["status"]
            reply.headers = {k.decode().lower(): v.decode() for k, v in message.get("headers", ())}
        elif message["type"] == "http.response.body":
            reply.body += message.get("body", b"")
            if not message.get("more_body", False):
                done.set()

    length = {"content-length": str(len(body))} if isinstance(body, bytes) else {}
    named = {"host": "testserver", "content-type": "application/json", **length, **(headers or {})}
    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1",
        "method": method, "scheme": "http", "path": path, "raw_path": path.encode(), "query_string": b"",
        "root_path": "", "headers": [(k.lower().encode(), v.encode()) for k, v in named.items()],
        "client": ("127.0.0.1", 50000), "server": ("testserver", 80), "state": {}, "extensions": {},
    }  # fmt: skip
    try:
        await app(scope, receive, send)
    except CheckFailure:  # of a body that judges how it is read
        raise
    except Exception:
        if not reply.status:
            reply.status, reply.body = 500, b"Internal Server Error"
    return reply


def post(
    app: App, path: str, body: bytes | Iterable[bytes], headers: Mapping[str, str] | None = None
) -> Reply:
    """POST one request, on an event loop of its own.

    Example:
        def test_sum(answer):
            reply = post(answer.app, "/sum", b"[1, 2]")
            expect_equal(reply.status, 200, "the status of POST /sum")
            expect_equal(reply.json("POST /sum"), {"sum": 3}, "the body of POST /sum")
    """
    return asyncio.run(exchange(app, "POST", path, body, headers))
