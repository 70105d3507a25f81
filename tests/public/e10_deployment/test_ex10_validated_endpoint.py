"""The contract of validated_endpoint."""

import json

import pytest
import torch

from grader.checks import expect_equal, expect_raises, expect_that
from grader.checks.aio.asgi import post

pytestmark = pytest.mark.needs("starlette")

BAD = {
    "no JSON": (b"{", 400, "json"),
    "a row too short": (b'{"inputs": [[1, 2, 3], [4, 5]]}', 422, "shape"),
    "a boolean": (b'{"inputs": [[1, 2, true]]}', 422, "dtype"),
    "NaN": (b'{"inputs": [[1, 2, NaN]]}', 422, "not_finite"),
    "three rows": (b'{"inputs": [[1, 2, 3], [1, 2, 3], [1, 2, 3]]}', 413, "too_large"),
}


def model(x):
    return x.sum(1, keepdim=True)


def test_parse(answer):
    """parse returns a float32 tensor."""
    yours = answer.parse(b'{"inputs": [[1, 2.5, -3], [0, 0, 1e-3]]}', 3)
    expect_equal(yours, torch.tensor([[1, 2.5, -3], [0, 0, 1e-3]]), "parse(body, 3)")


def test_predict(answer):
    """A request that is right is answered with the outputs of the model."""
    body = json.dumps({"inputs": [[1, 2.5, -3], [0, 0, 2]]}).encode()
    reply = post(answer.make_app(model, 3), "/predict", body)
    expect_equal(reply.status, 200, "the status of POST /predict")
    expect_equal(reply.json("POST /predict"), {"outputs": [[0.5], [2.0]]}, "the response to POST /predict")


@pytest.mark.parametrize("what", BAD)
def test_refusals(answer, what):
    """Each kind of bad request is refused by name, by parse and by the application."""
    body, status, error = BAD[what]
    expect_raises(answer.Refusal, lambda: answer.parse(body, 3, 2), f"parse(body, 3, 2) of {what}")
    call = f"POST /predict with {what}"
    reply = post(answer.make_app(model, 3, max_rows=2), "/predict", body)
    expect_equal(reply.status, status, f"the status of {call}")
    content = reply.json(call)
    expect_equal(content.get("error"), error, f"the error in the response to {call}")
    expect_that(bool(content.get("detail")), f"no detail in the response to {call}")


def test_too_many_bytes(answer):
    """A body that is too large is refused."""
    reply = post(answer.make_app(model, 3, max_bytes=50), "/predict", b'{"inputs": [[1, 2, 3]]}'.ljust(51))
    expect_equal(reply.status, 413, "the status of POST with 51 bytes, max_bytes=50")
