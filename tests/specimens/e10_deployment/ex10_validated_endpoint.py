"""Answers to validated_endpoint that people write."""

from grader.authoring.specimen import Right, Works, Wrong

DECODE = "        content = json.loads(body.decode())\n"
NO_JSON = "    except (ValueError, RecursionError) as error:  # also of an integer of 5000 digits\n"
OBJECT = '    if not isinstance(content, dict) or "inputs" not in content:\n'
MANY = "    if len(rows) > max_rows:\n"
ROW = "        if not isinstance(row, list) or len(row) != features:\n"
ITEMS = """        for item in row:
            if type(item) not in (int, float):  # a bool is an int
                raise Refusal(422, "dtype", f"row {place} holds {type(item).__name__}, not numbers only")
"""
ITEM = "            if type(item) not in (int, float):  # a bool is an int\n"
NUMBERS = "        numbers = [[float(item) for item in row] for row in rows]  # an int may be beyond int64\n"
OVERFLOW = "    except OverflowError:\n"
TENSOR = "    inputs = torch.tensor(numbers, dtype=torch.float32)  # (rows, features)\n"
FINITE = """    if not inputs.isfinite().all():
        raise Refusal(422, "not_finite", "a number is NaN, infinite or too large for float32")
"""
MODEL = "            with torch.inference_mode():\n"
FAILED = """        except Exception:
            raise Refusal(500, "model", "the model failed") from None
"""
ANSWER = '            return JSONResponse({"outputs": await run_in_threadpool(run, inputs)})\n'
SLASHES = "    app.router.redirect_slashes = False  # /predict/ is no path of ours\n"
GROW = "        body += chunk\n"
LIMIT = """        if len(body) > max_bytes:
            raise Refusal(413, "too_large", f"the body has more than {max_bytes} bytes")
"""

SPECIMENS = [
    Wrong(
        "takes booleans",
        edits=[(ITEM, "            if not isinstance(item, (int, float)):\n")],
        check="test_refusals",
        rung="job",
    ),
    Wrong("casts strings", edits=[(ITEMS, "")], check="test_refuses", rung="job"),
    Wrong("takes NaN", edits=[(FINITE, "")], check="test_refusals", rung="job"),
    Wrong(
        "takes infinity",
        edits=[(FINITE, FINITE.replace("not inputs.isfinite().all()", "inputs.isnan().any()"))],
        check="test_refuses",
        rung="job",
    ),
    Wrong(
        "KeyError without inputs",
        edits=[(OBJECT, "    if not isinstance(content, dict):\n")],
        check="test_refuses",
        rung="job",
    ),
    Wrong(
        "no JSON is 422",
        edits=[('Refusal(400, "json", f"the body', 'Refusal(422, "json", f"the body')],
        check="test_refusals",
        rung="job",
    ),
    Wrong(
        "looks at the first row only",
        edits=[(ROW, ROW.replace("if not", "if place == 0 and (not").replace("features:", "features):"))],
        check="test_refusals",
        rung="job",
    ),
    Wrong(
        "rows too long are cut",
        edits=[
            (ROW, ROW.replace("len(row) != features", "len(row) < features")),
            (NUMBERS, NUMBERS.replace("in row]", "in row[:features]]")),
        ],
        check="test_refuses",
        rung="job",
    ),
    Wrong(
        "reshapes",
        edits=[
            (ROW, "        if not isinstance(row, list):\n"),
            (
                TENSOR,
                "    flat = [n for row in numbers for n in row]\n    if len(flat) % features:\n        raise Refusal(422, 'shape', 'rows')\n    inputs = torch.tensor(flat, dtype=torch.float32).view(-1, features)\n",
            ),
        ],
        check="test_refuses",
        rung="job",
    ),
    Wrong("any number of rows", edits=[(MANY, "    if False:\n")], check="test_refusals", rung="job"),
    Wrong("one row less", edits=[(MANY, MANY.replace(">", ">="))], check="test_numbers", rung="job"),
    Wrong(
        "another key", edits=[('"outputs": await', '"predictions": await')], check="test_predict", rung="job"
    ),
    Wrong("any size", edits=[(LIMIT, "")], check="test_large_bodies", rung="job"),
    Wrong(
        "the model's exception goes up",
        edits=[(FAILED, "        except ZeroDivisionError:\n            raise\n")],
        check="test_bad_models",
        rung="job",
    ),
    Wrong(
        "an OverflowError for large integers",
        edits=[(OVERFLOW, "    except ZeroDivisionError:\n")],
        check="test_odd_bodies",
    ),
    Wrong(
        "reads all, then counts",
        edits=[
            (GROW + LIMIT, GROW),
            (
                "    return bytes(body)\n",
                "    if len(body) > max_bytes:\n        raise Refusal(413, 'too_large', 'too large')\n    return bytes(body)\n",
            ),
        ],
        check="test_chunks",
    ),
    Wrong(
        "tells the exception",
        edits=[
            (
                FAILED,
                "        except Exception as error:\n            raise Refusal(500, 'model', f'the model failed: {error}') from None\n",
            )
        ],
        check="test_details_and_defaults",
    ),
    Wrong(
        "records a graph",
        edits=[(MODEL, "            if True:\n"), ("outputs.tolist()", "outputs.detach().tolist()")],
        check="test_the_model_runs_once",
    ),
    Wrong("redirects /predict/", edits=[(SLASHES, "")], check="test_routes"),
    Wrong(
        "one buffer for the bodies of all requests",
        edits=[
            ("async def _read", "_BODY = bytearray()\n\n\nasync def _read"),
            ("    body = bytearray()\n    async for", "    body = _BODY\n    body.clear()\n    async for"),
        ],
        check="test_requests_overlap",
    ),
    Works(
        "request.body(), and a handler for Refusal",
        code="""
import json
import math

import torch
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route


class Refusal(Exception):
    def __init__(self, status, error, detail):
        super().__init__(detail)
        self.status, self.error, self.detail = status, error, detail


def parse(body, features, max_rows=256):
    try:
        data = json.loads(body)
    except json.JSONDecodeError as e:
        raise Refusal(400, "json", str(e))
    if not isinstance(data, dict) or "inputs" not in data:
        raise Refusal(400, "json", "missing key: inputs")
    rows = data["inputs"]
    if not isinstance(rows, list) or len(rows) == 0:
        raise Refusal(422, "shape", "inputs must be a list of rows")
    if len(rows) > max_rows:
        raise Refusal(413, "too_large", "too many rows")
    for i, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != features:
            raise Refusal(422, "shape", f"row {i} must have {features} items")
        for item in row:
            if isinstance(item, bool) or not isinstance(item, (int, float)):
                raise Refusal(422, "dtype", f"row {i}: {item!r} is not a number")
            if not math.isfinite(item):
                raise Refusal(422, "not_finite", f"row {i}: {item!r}")
    return torch.tensor(rows, dtype=torch.float32)


def make_app(model, features, *, max_rows=256, max_bytes=1_000_000):
    async def predict(request):
        body = await request.body()
        if len(body) > max_bytes:
            raise Refusal(413, "too_large", "body too large")
        inputs = parse(body, features, max_rows)
        try:
            with torch.no_grad():
                outputs = model(inputs)
        except Exception as e:
            raise Refusal(500, "model", str(e))
        if not torch.isfinite(outputs).all():
            raise Refusal(500, "model", "outputs are not finite")
        return JSONResponse({"outputs": outputs.tolist()})

    async def refuse(request, exc):
        return JSONResponse({"error": exc.error, "detail": exc.detail}, status_code=exc.status)

    routes = [Route("/predict", predict, methods=["POST"])]
    return Starlette(routes=routes, exception_handlers={Refusal: refuse})
""",
    ),
    Works(
        "tensors do the checking, and one try around all",
        edits=[
            (DECODE, "        content = json.loads(body)\n"),
            (NO_JSON, "    except Exception as error:\n"),
            (NUMBERS, "        numbers = rows\n"),
            (MODEL, "            if True:\n"),
            (SLASHES, ""),
            (
                GROW + LIMIT,
                GROW + "    if len(body) > max_bytes:\n        raise Refusal(413, 'too_large', 'large')\n",
            ),
        ],
    ),
    Right(
        "plain ASGI, and types by sets",
        code="""
import contextlib
import json
import math

import torch


class Refusal(Exception):
    def __init__(self, status, error, detail):
        super().__init__(status, error, detail)
        self.status, self.error, self.detail = status, error, detail


def parse(body, features, max_rows=256):
    content = None
    with contextlib.suppress(Exception):
        content = json.loads(str(body, "utf-8"), parse_float=float)
    if type(content) is not dict or "inputs" not in content:
        raise Refusal(400, "json", "send an object with inputs")
    rows = content.get("inputs")
    if type(rows) is not list or len(rows) == 0:
        raise Refusal(422, "shape", "rows are missing")
    if len(rows) > max_rows:
        raise Refusal(413, "too_large", "too many rows")
    if any(type(row) is not list or len(row) != features for row in rows):
        raise Refusal(422, "shape", "a row has another size")
    flat = [item for row in rows for item in row]
    if not {type(item) for item in flat} <= {int, float}:
        raise Refusal(422, "dtype", "not a number")
    limit = 2.0**128 - 2.0**103  # what rounds to infinity
    for item in flat:
        if item != item or not -limit < item < limit:
            raise Refusal(422, "not_finite", "not finite in float32")
    return torch.tensor([float(item) for item in flat]).reshape(len(rows), features)


def make_app(model, features, *, max_rows=256, max_bytes=1_000_000):
    async def reply(send, status, content):
        start = {"type": "http.response.start", "status": status}
        start["headers"] = [(b"content-type", b"application/json; charset=utf-8")]
        await send(start)
        await send({"type": "http.response.body", "body": json.dumps(content).encode()})

    async def app(scope, receive, send):
        if scope["path"] != "/predict" or scope["method"] != "POST":
            status = 404 if scope["path"] != "/predict" else 405
            return await reply(send, status, {"error": "route", "detail": "POST /predict"})
        try:
            parts, size, more = [], 0, True
            while more:
                message = await receive()
                more = message.get("more_body", False)
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > max_bytes:
                    raise Refusal(413, "too_large", "too many bytes")
            inputs = parse(b"".join(parts), features, max_rows)
            try:
                with torch.no_grad():
                    outputs = model(inputs).double().tolist()  # 22.0 for an integer
                json.dumps(outputs, allow_nan=False)
            except Exception:
                raise Refusal(500, "model", "sorry") from None
            return await reply(send, 200, {"outputs": outputs})
        except Refusal as refusal:
            await reply(send, refusal.status, {"error": refusal.error, "detail": refusal.detail})

    return app
""",
    ),
    Right(
        "a route of Starlette that is no coroutine for the model, and a Content-Length that is looked at first",
        edits=[
            (
                "    body = bytearray()\n",
                "    told = request.headers.get('content-length', '')\n    if told.isdigit() and int(told) > max_bytes:\n        raise Refusal(413, 'too_large', 'Content-Length says so')\n    body = bytearray()\n",
            ),
            (ANSWER, '            return JSONResponse({"outputs": run(inputs)})\n'),
        ],
    ),
]
