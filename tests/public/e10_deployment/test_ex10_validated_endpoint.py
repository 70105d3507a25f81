"""What a learner sees first of validated_endpoint."""

import json

import pytest
import torch

from grader.checks import expect_equal
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


def test_predict(answer):
    """A request that is right is answered with the outputs of the model."""
    body = json.dumps({"inputs": [[1, 2.5, -3], [0, 0, 2]]}).encode()
    expect_equal(answer.parse(body, 3), torch.tensor([[1, 2.5, -3], [0, 0, 2]]), "parse(body, 3)")
    reply = post(answer.make_app(model, 3), "/predict", body)
    expect_equal(reply.status, 200, "the status of POST /predict")
    expect_equal(reply.json("POST /predict"), {"outputs": [[0.5], [2.0]]}, "the response to POST /predict")


@pytest.mark.parametrize("what", BAD)
def test_refusals(answer, what):
    """Each kind of bad request is refused by name."""
    body, status, error = BAD[what]
    call = f"POST /predict with {what}"
    reply = post(answer.make_app(model, 3, max_rows=2), "/predict", body)
    expect_equal(reply.status, status, f"the status of {call}")
    expect_equal(reply.json(call).get("error"), error, f"the error in the response to {call}")
