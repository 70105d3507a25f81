"""Requests to an ASGI application, without a socket."""

import asyncio
import itertools
import json

import pytest

from grader.checks import CheckFailure
from grader.checks.aio.asgi import exchange, post


async def echo(scope, receive, send):
    """Answers with what it got; reads at most 10 bytes, and breaks at /broken and, later, at /late."""
    if scope["path"] == "/broken":
        raise KeyError("broken")
    body, more = b"", True
    while more and len(body) < 10:
        message = await receive()
        body, more = body + message["body"], message["more_body"]
    await send({"type": "http.response.start", "status": 201, "headers": [(b"Content-Type", b"text/x")]})
    if scope["path"] == "/late":
        raise KeyError("late")
    told = {"method": scope["method"], "path": scope["path"], "body": body.decode()}
    text = json.dumps(told).encode()
    await send({"type": "http.response.body", "body": text[:5], "more_body": True})
    await send({"type": "http.response.body", "body": text[5:]})
    if not more:
        assert (await receive())["type"] == "http.disconnect"


def test_request_and_response():
    reply = post(echo, "/predict", b"abc")
    assert (reply.status, reply.headers, reply.taken) == (201, {"content-type": "text/x"}, 3)
    assert reply.json("POST") == {"method": "POST", "path": "/predict", "body": "abc"}
    assert asyncio.run(exchange(echo, "GET", "/")).json("GET")["body"] == ""


def test_chunks_are_handed_out_on_demand():
    reply = post(echo, "/", (b"1234" for _ in itertools.count()))
    assert reply.taken == 12
    assert post(echo, "/", [b"12", b"", b"3"]).json("POST")["body"] == "123"


@pytest.mark.parametrize(
    "body, headers, wanted",
    [(b"abc", None, "3"), (b"", {}, "0"), (b"abc", {"content-length": "1"}, "1"), ([b"abc"], {}, None)],
)
def test_bytes_come_with_their_length(body, headers, wanted):
    async def tell(scope, receive, send):
        length = dict(scope["headers"]).get(b"content-length")
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(length and length.decode()).encode()})

    assert post(tell, "/", body, headers).json("POST") == wanted


def test_errors_are_answered():
    assert (post(echo, "/broken", b"").status, post(echo, "/late", b"").status) == (500, 201)


@pytest.mark.parametrize("text", ["NaN", "", "{"])
def test_only_strict_json(text):
    reply = post(echo, "/", b"")
    reply.body = text.encode()
    with pytest.raises(CheckFailure, match="the response to POST is no JSON"):
        reply.json("POST")
