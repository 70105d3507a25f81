"""What grades validated_endpoint: each refusal by name, numbers, models that fail; odd bytes, chunks."""

import asyncio
import itertools
import json
import math

import pytest
import torch

from grader.checks import CheckFailure, expect_close, expect_equal, expect_that
from grader.checks.aio.asgi import exchange, post

pytestmark = pytest.mark.needs("starlette")

LARGEST = torch.finfo(torch.float32).max


class Model:
    """x @ weight in float32; notes its inputs. What it returns may be changed by `spoil`."""

    def __init__(self, features=3, outputs=2, spoil=None):
        self.weight = torch.arange(1.0, features * outputs + 1).view(features, outputs).requires_grad_()
        self.spoil, self.calls, self.graphs = spoil, [], []

    def __call__(self, x):
        self.calls.append(x.detach().clone())
        result = x @ self.weight
        self.graphs.append(result.requires_grad)
        return result if self.spoil is None else self.spoil(result)


def text(rows):
    return json.dumps({"inputs": rows}).encode()


def with_item(item):
    return b'{"inputs": [[0.5, 0.5, 0.5], [0.5, 0.5, %s]]}' % item


ROW = [0.5] * 3
JSON, SHAPE, DTYPE, FINITE, LARGE = (
    (400, "json"), (422, "shape"), (422, "dtype"), (422, "not_finite"), (413, "too_large"),
)  # fmt: skip
BAD = {  # for three features and four rows: a body, and what it is refused with
    "an empty body": (b"", JSON),
    "half of a body": (text([ROW])[:-3], JSON),
    "plain text": (b"inputs=1,2,3", JSON),
    "a list at the top": (json.dumps([ROW]).encode(), JSON),
    "null": (b"null", JSON),
    "an object without inputs": (b'{"input": [[1, 2, 3]]}', JSON),
    "inputs that are null": (text(None), SHAPE),
    "inputs that are a string": (text("abc"), SHAPE),
    "no rows": (text([]), SHAPE),
    "a single row, not in a list": (text(ROW), SHAPE),
    "a row too short": (text([ROW, ROW[:2]]), SHAPE),
    "a row too long": (text([ROW, [*ROW, 0.5], ROW]), SHAPE),
    "all rows too short": (text([ROW[:2]] * 2), SHAPE),
    "three rows of two for two of three": (text([ROW[:2]] * 3), SHAPE),
    "a number in place of a row": (text([ROW, 1.5]), SHAPE),
    "a string": (with_item(b'"a"'), DTYPE),
    "a number as a string": (with_item(b'"0.5"'), DTYPE),
    "true": (with_item(b"true"), DTYPE),
    "null in place of a number": (with_item(b"null"), DTYPE),
    "a list in place of a number": (with_item(b"[0.5]"), DTYPE),
    "true in every place": (text([[True] * 3]), DTYPE),
    "NaN": (with_item(b"NaN"), FINITE),
    "Infinity": (with_item(b"Infinity"), FINITE),
    "-Infinity": (with_item(b"-Infinity"), FINITE),
    "5 rows": (text([ROW] * 5), LARGE),
}
ODD = {
    "bytes that are no UTF-8": (b'{"inputs": [["\xff\xfe"]]}', JSON),
    "UTF-16": (text([ROW]).decode().encode("utf-16"), JSON),
    "a surrogate in bytes, which is no UTF-8": (text([ROW])[:-1] + b', "by": "\xed\xa0\x80"}', JSON),
    "100000 brackets": (b"[" * 100_000, JSON),
    "an object in place of rows": (text({"0": ROW}), SHAPE),
    "a string in place of a row": (text([ROW, "123"]), SHAPE),
    "an object in place of a row": (text([ROW, {"0": 1, "1": 2, "2": 3}]), SHAPE),
    "an object in place of a number": (with_item(b"{}"), DTYPE),
    "half of a surrogate pair, which UTF-8 cannot say,": (with_item(b'"\\ud800"'), DTYPE),
    **{
        f"the number {n.decode()[:12]}": (with_item(n), FINITE)
        for n in (b"1e39", b"-3.4028235678e38", b"1e999", b"9" * 400)
    },
}


def refused(answer, bodies):
    """Fail unless parse and the application refuse each body by the right name, and the model is spared."""
    model = Model()
    app = answer.make_app(model, features=3, max_rows=4)
    for what, (body, wanted) in bodies.items():
        call = f"parse(body, 3, 4) of {what}"
        try:
            result = answer.parse(body, 3, 4)
        except answer.Refusal as refusal:
            yours = f"{refusal.status} {refusal.error}"
        except NotImplementedError:
            raise
        except Exception as error:
            yours = f"{type(error).__name__}: {str(error)[:100]}"
        else:
            raise CheckFailure(f"no Refusal from {call}", yours=f"returned {result}", wanted=wanted[1])
        told = f"{wanted[0]} {wanted[1]}"
        expect_that(yours == told, f"wrong refusal from {call}", yours=yours, wanted=told)
        expect_refusal(post(app, "/predict", body), wanted, f"POST /predict with {what}")
    expect_equal(len(model.calls), 0, "the number of calls of the model for bad requests")
    wanted = torch.tensor([[22.0, 28.0]])
    expect_outputs(post(app, "/predict", text([[1, 2, 3]])), wanted, "POST /predict after refusals")


def expect_refusal(reply, wanted, call):
    status, error = wanted
    yours = f"{reply.status}: {reply.body[:150]!r}"
    expect_that(
        reply.status == status, f"wrong status of the response to {call}", yours=yours, wanted=str(status)
    )
    content = reply.json(call)
    named = isinstance(content, dict) and content.get("error") == error
    expect_that(named, f"wrong error in the response to {call}", yours=content, wanted=error)


def expect_outputs(reply, wanted, call):
    if reply.status != 200:
        raise CheckFailure(f"{call} is refused", yours=f"{reply.status}: {reply.body[:200]!r}", wanted="200")
    content = reply.json(call)
    expect_equal(sorted(content), ["outputs"], f"the keys of the response to {call}")
    expect_close(torch.tensor(content["outputs"]), wanted, f"the outputs in the response to {call}")


def test_refuses(answer):
    """Each kind of bad body is refused with its status and name, by parse and by the application."""
    refused(answer, BAD)


def test_numbers(answer, gen):
    """parse gives float32, of integers as well."""
    rows = [[1, 0, -7], [0.1, 1e-3, 16777217], [2**53 + 1, 123456789.123, 1e38]]
    expect_equal(
        answer.parse(text(rows), 3), torch.tensor(rows, dtype=torch.float64).float(), "parse(body, 3)"
    )
    body = b' {"a": [], "inputs" :\n[[1,\t2.50], [-3E+2, 4e-1] ] , "b": null}\n'
    wanted = torch.tensor([[1, 2.5], [-300, 0.4]])
    expect_equal(answer.parse(body, 2), wanted, "parse(body, 2) of JSON with spaces")
    rows = torch.randn(4, 2, generator=gen)
    expect_equal(answer.parse(text(rows.double().tolist()), 2, 4), rows, "parse(body, 2, 4) of 4 rows")


def test_outputs(answer, gen):
    """Outputs come back in nested lists, for models of other sizes, too."""
    for features, outputs, rows in [(3, 2, 1), (1, 1, 4), (5, 3, 2), (2, 4, 7)]:
        model, x = Model(features, outputs), torch.randn(rows, features, generator=gen)
        wanted = (x @ model.weight).detach()
        call = f"POST /predict with {rows} rows of {features}, for {outputs} outputs"
        reply = post(answer.make_app(model, features), "/predict", text(x.double().tolist()))
        expect_outputs(reply, wanted, call)
        expect_equal(model.calls[0], x, f"the input of the model, {call}")


def test_large_bodies(answer):
    """A body may have max_bytes bytes and not one more."""
    app, body = answer.make_app(Model(), 3, max_bytes=100), text([[1, 2, 3]])
    wanted = torch.tensor([[22.0, 28.0]])
    expect_outputs(post(app, "/predict", body.ljust(100)), wanted, "POST with a body of 100 bytes")
    expect_refusal(post(app, "/predict", body.ljust(101)), LARGE, "POST with 101 bytes, max_bytes=100")


def explode(_):
    raise ValueError("secret: /home/me/data")


def test_bad_models(answer):
    """A model that raises, or returns what is not finite, is a 500, and the application goes on."""
    nan = lambda y: y * torch.tensor([1.0, math.nan])  # noqa: E731
    for what, spoil in {"raises": explode, "returns NaN": nan, "returns infinity": lambda y: y / 0}.items():
        model = Model(spoil=spoil)
        app, call = answer.make_app(model, 3), f"POST /predict where the model {what}"
        expect_refusal(post(app, "/predict", text([[1, 2, 3]])), (500, "model"), call)
        model.spoil = None
        reply = post(app, "/predict", text([[1, 2, 3]]))
        expect_outputs(reply, torch.tensor([[22.0, 28.0]]), f"{call} no more")


@pytest.mark.fine
def test_odd_bodies(answer):
    """Odd bytes, odd types and numbers beyond float32 are refused by name, too."""
    refused(answer, ODD)
    yours = answer.parse(text([[LARGEST, -LARGEST, 3 * 10**38], [2**70, 1e-45, 1 + 2**-24 + 2**-50]]), 3)
    wanted = [[LARGEST, -LARGEST, 3e38], [2.0**70, 1e-45, 1 + 2**-24 + 2**-50]]
    expect_equal(yours, torch.tensor(wanted, dtype=torch.float64).float(), "parse(body, 3) of large numbers")


@pytest.mark.fine
def test_details_and_defaults(answer):
    """Each refusal has a detail, which tells nothing of the model; 256 rows, a million bytes are the most."""
    app = answer.make_app(Model(spoil=explode), 3)
    large = text([ROW] * 257), b" " * 1_000_001
    for body in (b"{", text([[1]]), with_item(b"null"), *large, text([ROW])):
        reply = post(app, "/predict", body)
        detail, kind = reply.json("POST /predict").get("detail"), reply.headers.get("content-type", "")
        said = isinstance(detail, str) and bool(detail.strip())
        expect_that(said, "no detail in the response to a bad request", yours=reply.body[:100])
        expect_that(kind.startswith("application/json"), "a response is not application/json", yours=kind)
        expect_that(b"secret" not in reply.body, "what the model's exception says comes out", yours=detail)
    for body in large:
        expect_refusal(post(app, "/predict", body), LARGE, "POST with more than the default allows")
    right = answer.make_app(lambda x: x[:1], 3)
    body = text([ROW] * 256).ljust(1_000_000)
    expect_outputs(
        post(right, "/predict", body), torch.tensor([ROW]), "POST with as much as the default allows"
    )


@pytest.mark.fine
def test_chunks(answer):
    """A body in chunks is put together, and not read on once it is too large, whatever headers say."""
    body = json.dumps({"name": "κατά", "inputs": [[1, 2, 3]]}, ensure_ascii=False).encode()
    app, wanted = answer.make_app(Model(), 3, max_bytes=5000), torch.tensor([[22.0, 28.0]])
    for size in (1, 5, 50):
        chunks = [body[i : i + size] for i in range(0, len(body), size)]
        expect_outputs(post(app, "/predict", chunks), wanted, f"POST with a body in chunks of {size} bytes")
    for headers in ({}, {"content-length": "10"}):
        large = body.ljust(5001)
        for given in ([large], [large[:5000], large[5000:]]):
            expect_refusal(
                post(app, "/predict", given, headers), LARGE, "POST with 5001 bytes, max_bytes=5000"
            )

    def endless():
        for count in itertools.count():
            if count > 100:
                raise CheckFailure(
                    "POST with an endless body and max_bytes=5000 reads on, after 100000 bytes"
                )
            yield b" " * 1000

    reply = post(app, "/predict", endless())
    expect_refusal(reply, LARGE, "POST with an endless body")
    what = "POST with an endless body reads on when it is too large, max_bytes=5000"
    expect_that(reply.taken <= 6000, what, yours=f"{reply.taken} bytes")


@pytest.mark.fine
def test_the_model_runs_once(answer):
    """The model is called once for each request, without a graph; who records elsewhere still does."""
    model = Model(spoil=lambda y: y.mul_(2.0))
    app = answer.make_app(model, 3)
    for time in (1, 2):
        reply = post(app, "/predict", text([[1, 2, 3]]))
        expect_outputs(reply, torch.tensor([[44.0, 56.0]]), "POST /predict of the same body")
        expect_equal(len(model.calls), time, f"the number of calls of the model for {time} requests")
    expect_equal(model.graphs, [False, False], "whether the model records a graph")
    expect_that(torch.is_grad_enabled(), "gradients are off in the rest of the process after POST /predict")
    writer = answer.make_app(lambda x: x.mul_(2.0), 3)
    for _ in range(2):
        reply = post(writer, "/predict", text([[1, 2, 3]]))
        expect_outputs(reply, torch.tensor([[2.0, 4.0, 6.0]]), "POST for a model that writes into its input")


@pytest.mark.fine
def test_routes(answer):
    """Other paths are 404, other methods 405."""
    app, body = answer.make_app(Model(), 3), text([[1, 2, 3]])
    for method, path, status in (
        ("POST", "/", 404), ("POST", "/predict/", 404), ("GET", "/health", 404), ("GET", "/predict", 405),
        ("PUT", "/predict", 405), ("OPTIONS", "/predict", 405),
    ):  # fmt: skip
        reply = asyncio.run(exchange(app, method, path, body))
        expect_equal(reply.status, status, f"the status of {method} {path}")


@pytest.mark.fine
def test_requests_overlap(answer):
    """Requests at the same time, in chunks, get each their own answer."""
    app = answer.make_app(lambda x: x, 1)
    bodies = [text([[float(i)]]) for i in range(8)]

    async def in_two(body):
        length = {"content-length": str(len(body))}
        return await exchange(app, "POST", "/predict", [body[:9], body[9:]], length)

    async def main():
        return await asyncio.gather(*(in_two(body) for body in bodies))

    for i, reply in enumerate(asyncio.run(main())):
        expect_outputs(reply, torch.tensor([[float(i)]]), "POST /predict, eight at the same time")


def oracle(answer, gen):
    def replies(bodies, model):
        app = answer.make_app(model, 3, max_rows=4, max_bytes=5000)
        for body in bodies:
            reply = post(app, "/predict", body)
            content = reply.json("POST /predict")
            yield [reply.status, content.get("error", ""), content.get("outputs", [])]

    def rows_of(gen, count):
        return text(torch.randn(count, 3, generator=gen, dtype=torch.float64).tolist())

    def some_bad(*refusals):
        """What comes back for eight requests, of which one in two is one of these."""
        bad = [body for body, wanted in BAD.values() if wanted in refusals]

        def case(gen):
            is_bad, which = torch.rand(8, generator=gen) < 0.5, torch.randint(len(bad), (8,), generator=gen)
            good = [rows_of(gen, 1 + n % 4) for n in range(8)]
            bodies = [
                bad[place] if spoiled else right
                for spoiled, place, right in zip(is_bad, which, good, strict=True)
            ]
            return [*replies(bodies, Model())]

        return case

    def sizes(gen):
        around = (4990 + torch.randint(21, (8,), generator=gen)).tolist()
        return [*replies([rows_of(gen, 1).ljust(size) for size in around], Model())]

    def failing(gen):
        fails = (torch.rand(8, generator=gen) < 0.5).tolist()
        model = Model(spoil=lambda y: explode(y) if fails.pop() else y)
        return [*replies([rows_of(gen, 2) for _ in range(8)], model)]

    return {
        "parsed": lambda gen: answer.parse(rows_of(gen, 3), 3),
        "outputs": lambda gen: [*replies([rows_of(gen, 2), rows_of(gen, 4)], Model())],
        "eight requests, some no JSON object with inputs": some_bad(JSON),
        "eight requests, some of another shape": some_bad(SHAPE),
        "eight requests, some without numbers in places": some_bad(DTYPE),
        "eight requests, some with NaN or infinity": some_bad(FINITE),
        "eight bodies of about as many bytes as may come": sizes,
        "eight requests to a model that raises now and then": failing,
    }
