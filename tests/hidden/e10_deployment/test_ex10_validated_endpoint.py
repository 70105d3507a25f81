"""What grades validated_endpoint: each refusal by name, numbers, sizes, chunks, a model that fails."""

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
        self.spoil = spoil
        self.calls = []
        self.graphs = []

    def __call__(self, x):
        self.calls.append(x.detach().clone())
        result = x @ self.weight
        self.graphs.append(result.requires_grad)
        return result if self.spoil is None else self.spoil(result)


def text(rows):
    return json.dumps({"inputs": rows}).encode()


def wrong_bodies(features, max_rows):
    """(what it is, body, statuses and names that are right), for each line of the table but the last."""
    row, short, long = [0.5] * features, [0.5] * (features - 1), [0.5] * (features + 1)
    json_, shape = [(400, "json")], [(422, "shape")]
    dtype, finite, large = [(422, "dtype")], [(422, "not_finite")], [(413, "too_large")]
    deep = b"[" * 100_000

    def with_item(item):
        return b'{"inputs": [%s, [%s]]}' % (
            json.dumps(row).encode(),
            b", ".join([b"0.5"] * (features - 1) + [item]),
        )

    return [
        ("an empty body", b"", json_),
        ("half of a body", text([row])[:-3], json_),
        ("plain text", b"inputs=1,2,3", json_),
        ("JSON with something after it", text([row]) + b" }", json_),
        ("JSON with a zero byte after it", text([row]) + b"\0", json_),
        ("a line break in a string, which is no JSON", text([row])[:-1] + b', "by": "a\nb"}', json_),
        ("bytes that are no UTF-8", b'{"inputs": [["\xff\xfe"]]}', json_),
        ("UTF-16", text([row]).decode().encode("utf-16"), json_),
        ("UTF-16 without a mark", text([row]).decode().encode("utf-16-le"), json_),
        ("UTF-32", text([row]).decode().encode("utf-32-be"), json_),
        ("a surrogate in bytes, which is no UTF-8", text([row])[:-1] + b', "by": "\xed\xa0\x80"}', json_),
        ("bytes that are nothing", bytes(range(128, 256)), json_),
        ("100000 brackets", deep, json_),
        ("nested 100000 deep", b'{"inputs": ' + deep + b"]" * 100_000 + b"}", [*json_, *shape, *dtype]),
        ("a list at the top", json.dumps([row]).encode(), json_),
        ("null", b"null", json_),
        ("a number", b"17", json_),
        ("a string", b'"inputs"', json_),
        ("an object without inputs", json.dumps({"input": [row]}).encode(), json_),
        ("an empty object", b"{}", json_),
        ("inputs that are null", text(None), shape),
        ("inputs that are a number", text(3), shape),
        ("inputs that are a string", text("abc"), shape),
        ("inputs that are an object", text({"0": row, "1": row}), shape),
        ("inputs that are true", text(True), shape),
        ("no rows", text([]), shape),
        ("a single row, not in a list", text(row), shape),
        ("a row too short", text([row, short]), shape),
        ("a row too long", text([row, long, row]), shape),
        ("a first row too long", text([long, row]), shape),
        ("all rows too short", text([short, short]), shape),
        ("all rows too long", text([long, long]), shape),
        ("an empty row", text([row, []]), shape),
        ("only empty rows", text([[], []]), shape),
        ("a number in place of a row", text([row, 1.5]), shape),
        ("null in place of a row", text([None]), shape),
        ("a string in place of a row", text([row, "1" * features]), shape),
        ("an object in place of a row", text([row, {str(i): 0.5 for i in range(features)}]), shape),
        ("rows in rows", text([[row]]), shape if features != 1 else [*shape, *dtype]),
        *((f"{name} in place of a number", with_item(item), dtype) for name, item in [
            ("a string", b'"a"'), ("a number as a string", b'"0.5"'), ("true", b"true"), ("false", b"false"),
            ("null", b"null"), ("a list", b"[0.5]"), ("an object", b"{}"), ("an empty string", b'""'),
            ("NaN as a string", b'"NaN"'), ("an empty list", b"[]"),
            ("half of a surrogate pair, which UTF-8 cannot say,", b'"\\ud800"'),
        ]),
        ("true in every place", text([[True] * features]), dtype),
        ("strings in every place", text([["1"] * features] * 2), dtype),
        ("lists of one number in every place", text([[[0.5]] * features] * 2), dtype),
        *((f"the number {name}", with_item(item), finite) for name, item in [
            ("NaN", b"NaN"), ("Infinity", b"Infinity"), ("-Infinity", b"-Infinity"), ("1e39", b"1e39"),
            ("-1e39", b"-1e39"), ("3.5e38", b"3.5e38"), ("-3.4028235678e38", b"-3.4028235678e38"),
            ("1e999", b"1e999"), ("-1e999", b"-1e999"),
            ("of 40 digits", b"9" * 40), ("of 400 digits", b"9" * 400),
            ("minus 400 digits", b"-" + b"9" * 400),
        ]),
        ("the number of 6000 digits", with_item(b"9" * 6000), [*finite, *json_]),
        ("NaN in every place", text([[math.nan] * features]), finite),
        (f"{max_rows + 1} rows", text([row] * (max_rows + 1)), large),
        (f"{10 * max_rows} rows", text([row] * (10 * max_rows)), large),
    ]  # fmt: skip


def refusal_of(answer, body, features, max_rows, call):
    try:
        result = answer.parse(body, features, max_rows)
    except answer.Refusal as refusal:
        expect_that(
            isinstance(refusal.detail, str) and refusal.detail.strip() != "",
            f"the Refusal from {call} says nothing",
        )
        return refusal.status, refusal.error
    except NotImplementedError:
        raise
    except Exception as error:
        yours = f"{type(error).__name__}: {str(error)[:150]}"
        raise CheckFailure(f"{call} raises another error\n  yours   {yours}\n  wanted  Refusal") from None
    raise CheckFailure(f"no Refusal from {call}\n  yours   returned {result}")


def expect_refusal(reply, wanted, call):
    """Fail unless a response is one of the refusals `wanted`."""
    expect_that(
        any(reply.status == status for status, _ in wanted),
        f"wrong status of the response to {call}",
        yours=f"{reply.status}: {reply.body[:150]!r}",
        wanted=" or ".join(str(status) for status, _ in wanted),
    )
    content = reply.json(call)
    expect_that(
        isinstance(content, dict) and (reply.status, content.get("error")) in wanted,
        f"wrong error in the response to {call}",
        yours=content,
        wanted=" or ".join(error for _, error in wanted),
    )
    detail = content.get("detail")
    expect_that(isinstance(detail, str) and detail.strip() != "", f"no detail in the response to {call}")
    expect_json_type(reply, call)


def expect_json_type(reply, call):
    kind = reply.headers.get("content-type", "")
    expect_that(
        kind.startswith("application/json"),
        f"wrong content type of the response to {call}",
        yours=kind or "none",
    )


def expect_outputs(reply, wanted, call):
    if reply.status != 200:
        raise CheckFailure(
            f"{call} is refused\n  yours   {reply.status}: {reply.body[:200]!r}\n  wanted  200"
        )
    content = reply.json(call)
    expect_equal(sorted(content), ["outputs"], f"the keys of the response to {call}")
    expect_close(torch.tensor(content["outputs"]), wanted, f"the outputs in the response to {call}")
    expect_json_type(reply, call)


@pytest.mark.parametrize(("features", "max_rows"), [(3, 4), (2, 9), (1, 3)], ids=str)
def test_parse_refuses(answer, features, max_rows):
    """parse refuses each kind of bad body with its status and name, and raises nothing else."""
    for what, body, wanted in wrong_bodies(features, max_rows):
        call = f"parse(body, {features}, {max_rows}) of {what}"
        yours = refusal_of(answer, body, features, max_rows, call)
        expect_that(
            yours in wanted,
            f"wrong refusal from {call}",
            yours=f"{yours[0]} {yours[1]}",
            wanted=" or ".join(f"{status} {error}" for status, error in wanted),
        )


def test_app_refuses(answer):
    """The application answers each kind of bad body with status, name and detail, and spares the model."""
    model = Model()
    app = answer.make_app(model, features=3, max_rows=4)
    for what, body, wanted in wrong_bodies(3, 4):
        expect_refusal(post(app, "/predict", body), wanted, f"POST /predict with {what}")
    expect_equal(len(model.calls), 0, "the number of calls of the model for bad requests")
    expect_outputs(
        post(app, "/predict", text([[1, 2, 3]])), torch.tensor([[22.0, 28.0]]), "POST /predict after refusals"
    )


def test_numbers(answer):
    """Numbers are rounded once to float32: integers, tiny ones, and the largest."""
    numbers = [
        1, 0, -7, 0.1, 1e-3, 1e-45, 1e-320, 16777217, 2**53 + 1, 2**63, 2**70, -(2**80), 3 * 10**38,
        123456789.123, LARGEST, -LARGEST, LARGEST, 1e38, 1 / 3, -0.0, 1 + 2**-24 + 2**-50, 1e308 / 1e308,
    ]  # fmt: skip
    wanted = torch.tensor([float(n) for n in numbers], dtype=torch.float64).float()
    yours = answer.parse(text([[n] for n in numbers]), 1)
    expect_equal(yours, wanted[:, None], "parse(body, 1)")
    yours = answer.parse(b' {"a": [], "inputs" :\n[[1,\t2.50], [-3E+2, 4e-1] ] , "b": null}\n', 2)
    expect_equal(yours, torch.tensor([[1, 2.5], [-300, 0.4]]), "parse(body, 2) of JSON with spaces")
    yours = answer.parse(text([[2, 1, 3], [4, 6, 5]]), features=3)
    expect_equal(yours, torch.tensor([[2.0, 1, 3], [4, 6, 5]]), "parse(body, 3) of integers")


def test_rows(answer):
    """Up to max_rows rows are taken, and one more is refused; without another word, 256."""
    for call, most, options in [
        ("parse(body, 2)", 256, {}), ("parse(body, 2, 5)", 5, {"max_rows": 5}),
        ("parse(body, 2, 1)", 1, {"max_rows": 1}),
        ("parse(body, 2, 1000)", 1000, {"max_rows": 1000}),
    ]:  # fmt: skip
        rows = [[i, 0.5] for i in range(most)]
        expect_equal(answer.parse(text(rows), 2, **options), torch.tensor(rows), f"{call} of {most} rows")
        yours = refusal_of(answer, text([*rows, [0, 0]]), 2, most, f"{call} of {most + 1} rows")
        expect_equal(yours, (413, "too_large"), f"the refusal from {call} of {most + 1} rows")
        app = answer.make_app(lambda x: x, 2, **options)
        expect_outputs(
            post(app, "/predict", text(rows)), torch.tensor(rows).float(), f"POST with {most} rows"
        )
        expect_refusal(
            post(app, "/predict", text([*rows, [0, 0]])), [(413, "too_large")], f"POST with {most + 1} rows"
        )


def test_outputs(answer, gen):
    """Outputs come back in nested lists, for models with other sizes and dtypes too."""
    for features, outputs, rows in [(3, 2, 1), (1, 1, 4), (5, 3, 2), (2, 4, 7)]:
        model = Model(features, outputs)
        app = answer.make_app(model, features)
        x = torch.randn(rows, features, generator=gen)
        wanted = (x.double() @ model.weight.detach().double()).float()
        call = f"POST /predict with {rows} rows of {features}, for {outputs} outputs"
        reply = post(app, "/predict", text(x.double().tolist()))
        expect_outputs(reply, wanted, call)
        expect_equal(len(model.calls), 1, f"the number of calls of the model, {call}")
        expect_equal(model.calls[0], x, f"the input of the model, {call}")
        expect_equal(model.graphs, [False], f"whether the model records a graph, {call}")
        expect_that(torch.is_grad_enabled(), f"gradients are off in the rest of the process after {call}")
        expect_outputs(post(app, "/predict", text(x.double().tolist())), wanted, f"{call}, again")
        expect_equal(
            len(model.calls), 2, "the number of calls of the model for two requests with the same body"
        )
    for spoil, wanted in [
        (lambda y: y.half(), [[22.0, 28.0]]), (lambda y: y[:, 0], [22.0]), (lambda y: y.long(), [[22, 28]]),
        (lambda y: y[:, :, None], [[[22.0], [28.0]]]),
        (lambda y: y / 2**30, [[22 / 2**30, 28 / 2**30]]), (lambda y: y * 0 + LARGEST, [[LARGEST] * 2]),
    ]:  # fmt: skip
        reply = post(answer.make_app(Model(spoil=spoil), 3), "/predict", text([[1, 2, 3]]))
        yours = reply.json("POST /predict")
        if yours != {"outputs": wanted}:  # 22 and 22.0 are one number in JSON
            expect_equal(yours, {"outputs": wanted}, f"the response for a model that gives {wanted}")
    app = answer.make_app(lambda x: x.mul_(2.0), 3)
    for time in ("once", "again"):
        call = f"POST /predict, {time}, for a model that writes into its input"
        expect_outputs(post(app, "/predict", text([[1, 2, 3]])), torch.tensor([[2.0, 4.0, 6.0]]), call)


def test_large_bodies(answer):
    """A body may have max_bytes bytes and not one more, whatever Content-Length says."""
    rows = [[1, 2, 3]]
    for most, options in [(100, {"max_bytes": 100}), (5000, {"max_bytes": 5000}), (1_000_000, {})]:
        model = Model()
        app = answer.make_app(model, 3, **options)
        right, wrong = text(rows).ljust(most), text(rows).ljust(most + 1)
        wanted = torch.tensor([[22.0, 28.0]])
        for headers in ({}, {"content-length": str(most)}):
            expect_outputs(post(app, "/predict", right, headers), wanted, f"POST with a body of {most} bytes")
        model.calls.clear()
        for headers in (
            {},
            {"content-length": str(most + 1)},
            {"content-length": "10"},
            {"content-length": "0"},
        ):
            call = f"POST with a body of {most + 1} bytes, max_bytes={most}"
            expect_refusal(post(app, "/predict", wrong, headers), [(413, "too_large")], call)
            halves = [wrong[:most], wrong[most:]]
            expect_refusal(
                post(app, "/predict", halves, headers), [(413, "too_large")], f"{call}, in two chunks"
            )
        letters = json.dumps({"inputs": rows, "by": "µ" * (most // 2)}, ensure_ascii=False).encode()
        call = f"POST with fewer than {most} letters in {len(letters)} bytes, max_bytes={most}"
        expect_refusal(post(app, "/predict", letters), [(413, "too_large")], call)
        expect_equal(len(model.calls), 0, "the number of calls of the model for bodies that are too large")


def test_an_endless_body(answer):
    """Once a body is too large, the rest of it is not read."""
    for most, size in [(5000, 1000), (100, 7), (2000, 2000)]:
        app = answer.make_app(Model(), 3, max_bytes=most)

        def body(most=most, size=size):
            for count in itertools.count():
                if count * size > 20 * most:
                    raise CheckFailure(
                        f"POST with an endless body and max_bytes={most} reads on\n"
                        f"  yours   {count * size} bytes so far\n"
                        f"  wanted  an answer after {most} bytes or some more"
                    )
                yield b" " * size

        reply = post(app, "/predict", body())
        expect_refusal(reply, [(413, "too_large")], f"POST with an endless body, max_bytes={most}")
        expect_that(
            reply.taken <= most + size,
            f"POST with an endless body in chunks of {size} bytes reads too much, max_bytes={most}",
            yours=f"{reply.taken} bytes",
            wanted="no chunk after the one with which it is too large",
        )


def test_chunks(answer):
    """A body that comes in pieces is put together, wherever it is cut."""
    body = json.dumps({"name": "κατά", "inputs": [[1, 2, 3], [0.5, 0, 0]]}, ensure_ascii=False).encode()
    wanted = torch.tensor([[22.0, 28.0], [0.5, 1.0]])
    app = answer.make_app(Model(), 3)
    for size in (1, 2, 5, 13, 50):
        chunks = [body[i : i + size] for i in range(0, len(body), size)]
        expect_outputs(post(app, "/predict", chunks), wanted, f"POST with a body in chunks of {size} bytes")
    expect_outputs(post(app, "/predict", [b"", body, b""]), wanted, "POST with empty chunks")
    headers = {"content-type": "text/plain"}
    expect_outputs(post(app, "/predict", body, headers), wanted, "POST of JSON that calls itself text/plain")


def test_a_model_that_fails(answer):
    """A model that raises, or returns NaN or inf, is answered with 500, and tells no secrets."""
    secret = "postgres://admin:hunter2@db"

    def raises(error):
        def spoil(_):
            raise error

        return spoil

    spoils = {
        "raises RuntimeError": raises(RuntimeError(secret)),
        "raises ValueError": raises(ValueError(secret)),
        "raises KeyError": raises(KeyError(secret)),
        "raises Refusal": raises(answer.Refusal(422, "dtype", secret)),
        "returns NaN": lambda y: y * math.nan,
        "returns one NaN": lambda y: torch.where(y == y.max(), math.nan, y),
        "returns inf": lambda y: y / 0,
        "returns one -inf": lambda y: torch.where(y == y.max(), -math.inf, y),
    }
    for what, spoil in spoils.items():
        model = Model(spoil=spoil)
        app = answer.make_app(model, 3)
        for _ in range(2):
            reply = post(app, "/predict", text([[1, 2, 3], [4, 5, 6]]))
            expect_refusal(reply, [(500, "model")], f"POST for a model that {what}")
            expect_that(
                "hunter2" not in reply.body.decode(),
                "the response says what the exception of the model said",
                yours=reply.body.decode()[:200],
            )
            expect_that(torch.is_grad_enabled(), f"gradients are off after POST for a model that {what}")
        expect_equal(
            len(model.calls),
            2,
            f"the number of calls of a model that {what}, for two requests that are right",
        )
        model.spoil = None
        reply = post(app, "/predict", text([[1, 2, 3]]))
        expect_outputs(reply, torch.tensor([[22.0, 28.0]]), f"POST after the model {what}")
        expect_refusal(post(app, "/predict", b""), [(400, "json")], f"POST of nothing after the model {what}")


def test_paths_and_methods(answer):
    """Other paths are answered with 404, other methods with 405."""
    model = Model()
    app = answer.make_app(model, 3)
    body = text([[1, 2, 3]])
    for method, path, wanted in [
        ("POST", "/", 404), ("POST", "/predictions", 404), ("GET", "/other", 404),
        ("POST", "/v1/predict", 404), ("POST", "/predict/", 404), ("GET", "/predict/", 404),
        ("GET", "/predict", 405), ("PUT", "/predict", 405), ("DELETE", "/predict", 405),
        ("PATCH", "/predict", 405), ("OPTIONS", "/predict", 405), ("HEAD", "/predict", 405),
        ("POST", "/predict", 200),
    ]:  # fmt: skip
        reply = asyncio.run(exchange(app, method, path, body))
        expect_equal(reply.status, wanted, f"the status of {method} {path}")
    expect_equal(len(model.calls), 1, "the number of calls of the model")


def test_overlapping_requests(answer):
    """Requests that overlap, right and wrong ones, and two applications do not disturb each other."""
    from starlette.concurrency import run_in_threadpool

    first, second = answer.make_app(Model(), 3, max_rows=2), answer.make_app(Model(2, 1), 2, max_bytes=60)
    recording, left = set(), set()

    async def main():
        def pieces(body):
            for i in range(0, len(body), 4):
                recording.add(torch.is_grad_enabled())  # in the midst of other requests
                yield body[i : i + 4]

        jobs = []
        for i in range(40):
            rows = [[i, 0, 1]] if i % 4 else [[i, 0, 1]] * 3
            jobs.append(exchange(first, "POST", "/predict", pieces(text(rows))))
            jobs.append(exchange(second, "POST", "/predict", pieces(text([[i, 1]] * (1 + 9 * (i % 5 == 0))))))
        replies = await asyncio.gather(*jobs)
        for to_thread in (run_in_threadpool, asyncio.to_thread):
            left.add(await to_thread(torch.is_grad_enabled))
        return replies

    replies = asyncio.run(main())
    expect_that(left == {True}, "gradients are off in a thread that has run the model")
    expect_that(
        recording == {True}, "gradients are off in the rest of the process while a request waits for its body"
    )
    for i, (one, two) in enumerate(zip(replies[::2], replies[1::2], strict=True)):
        call = f"POST number {i} of 40 that overlap"
        if i % 4:
            expect_outputs(one, torch.tensor([[i + 5.0, 2 * i + 6.0]]), call)
        else:
            expect_refusal(one, [(413, "too_large")], call)
        if i % 5:
            expect_outputs(two, torch.tensor([[i + 2.0]]), f"{call}, to another application")
        else:
            expect_refusal(two, [(413, "too_large")], f"{call}, to another application")


def oracle(answer, gen):
    x = torch.randn(3, 4, generator=gen, dtype=torch.float64)
    model = Model(4, 3)
    app = answer.make_app(model, 4, max_rows=5)
    reply = post(app, "/predict", text(x.tolist()))
    results = [reply.status, torch.tensor(reply.json("POST")["outputs"]), answer.parse(text(x.tolist()), 4)]
    for _, body, wanted in wrong_bodies(4, 5):
        if len(wanted) == 1:
            reply = post(app, "/predict", body)
            results.append([reply.status, reply.json("POST")["error"]])
    return results
