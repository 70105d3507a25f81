"""What a learner sees first of validated_endpoint."""

import json

import pytest
import torch

from grader.checks import expect_equal, expect_that
from grader.checks.aio.asgi import post

pytestmark = pytest.mark.needs("starlette")

BAD = {
    "no JSON": (b"{", 400, "json", "a body that json.loads cannot read is a 400"),
    "a row too short": (
        b'{"inputs": [[1, 2, 3], [4, 5]]}',
        422,
        "shape",
        "each row is to have 3 numbers, not only the first",
    ),
    "a boolean": (b'{"inputs": [[1, 2, true]]}', 422, "dtype", "true is taken for a number: bool is an int"),
    "NaN": (b'{"inputs": [[1, 2, NaN]]}', 422, "not_finite", "json.loads takes NaN: ask for isfinite"),
    "three rows": (b'{"inputs": [[1, 2, 3], [1, 2, 3], [1, 2, 3]]}', 413, "too_large", "max_rows is 2 here"),
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
    body, status, error, why = BAD[what]
    call = f"POST /predict with {what}"
    reply = post(answer.make_app(model, 3, max_rows=2), "/predict", body)
    expect_that(
        reply.status == status,
        f"wrong status of {call}",
        yours=str(reply.status),
        wanted=str(status),
        likely="two rows are not more than max_rows=2" if reply.status == 413 else why,
    )
    expect_equal(reply.json(call).get("error"), error, f"the error in the response to {call}")
