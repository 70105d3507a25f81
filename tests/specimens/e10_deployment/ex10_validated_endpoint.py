"""Answers to validated_endpoint that people write."""

from grader.authoring.specimen import Right, Wrong

DECODE = "        content = json.loads(body.decode())\n"
NO_JSON = "    except (ValueError, RecursionError) as error:  # also of an integer of 5000 digits\n"
OBJECT = '    if not isinstance(content, dict) or "inputs" not in content:\n'
LIST = "    if not isinstance(rows, list) or not rows:\n"
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
OUTPUTS = """        if not finite:
            raise Refusal(500, "model", "the model returned numbers that are not finite")
"""
READ = "            inputs = parse(await _read(request, max_bytes), features, max_rows)\n"
ANSWER = '            return JSONResponse({"outputs": await run_in_threadpool(run, inputs)})\n'
REFUSED = """            told = {"error": refusal.error, "detail": refusal.detail}
            return JSONResponse(told, status_code=refusal.status)
"""
ROUTE = '    app = Starlette(routes=[Route("/predict", predict, methods=["POST"])])\n'
SLASHES = "    app.router.redirect_slashes = False  # /predict/ is no path of ours\n"
GROW = "        body += chunk\n"
LIMIT = """        if len(body) > max_bytes:
            raise Refusal(413, "too_large", f"the body has more than {max_bytes} bytes")
"""

SPECIMENS = [
    Wrong(
        "lets surrogates in UTF-8 pass",
        edits=[(DECODE, DECODE.replace("decode()", 'decode("utf-8", "surrogatepass")'))],
        check="test_parse_refuses",
        says="surrogate",
    ),
    Wrong(
        "another name for features",
        edits=[
            ("parse(body: bytes, features: int,", "parse(body: bytes, columns: int,"),
            ("len(row) != features:", "len(row) != columns:"),
            ("{size}, not {features}", "{size}, not {columns}"),
        ],
        check="test_numbers",
        says="signature",
    ),
    Wrong(
        "passes a Refusal of the model on",
        edits=[(FAILED, "        except Refusal:\n            raise\n" + FAILED)],
        check="test_a_model_that_fails",
        says="raises Refusal",
    ),
    Wrong(
        "looks at the sum of the outputs",
        edits=[("outputs.isfinite().all()", "outputs.sum().isfinite()")],
        check="test_outputs",
    ),
    Wrong(
        "turns gradients off for the whole of a request, also while it waits for the body",
        edits=[
            (
                "            inputs = parse(await _read(request, max_bytes), features, max_rows)\n",
                "            with torch.no_grad():\n"
                "                inputs = parse(await _read(request, max_bytes), features, max_rows)\n",
            )
        ],
        check="test_overlapping_requests",
        says="gradients",
    ),
    Wrong(
        "one buffer for the bodies of all requests",
        edits=[
            ("async def _read", "_BODY = bytearray()\n\n\nasync def _read"),
            ("    body = bytearray()\n    async for", "    body = _BODY\n    body.clear()\n    async for"),
        ],
        check="test_overlapping_requests",
    ),
    Wrong(
        "switches gradients off for all",
        edits=[
            (MODEL, "            torch.set_grad_enabled(False)\n            if True:\n"),
            (ANSWER, '            return JSONResponse({"outputs": run(inputs)})\n'),
        ],
        check="test_outputs",
        says="rest of the process",
    ),
    Wrong(
        "takes UTF-16 as well",
        edits=[(DECODE, DECODE.replace(".decode()", ""))],
        check="test_parse_refuses",
        says="UTF-16",
    ),
    Wrong("redirects /predict/", edits=[(SLASHES, "")], check="test_paths_and_methods", says="/predict/"),
    Wrong(
        "counts letters",
        edits=[(LIMIT, LIMIT.replace("len(body) >", 'len(body.decode(errors="ignore")) >'))],
        check="test_large_bodies",
        says="letters",
    ),
    Wrong(
        "takes booleans",
        edits=[(ITEM, "            if not isinstance(item, (int, float)):\n")],
        check="test_parse_refuses",
        says="no Refusal",
    ),
    Wrong("casts strings", edits=[(ITEMS, "")], check="test_parse_refuses"),
    Wrong(
        "leaves types to torch.tensor",
        edits=[
            (ITEMS, ""),
            (NUMBERS, "        inputs = torch.tensor(rows, dtype=torch.float32)\n"),
            (
                OVERFLOW,
                "    except (TypeError, ValueError, RuntimeError) as error:\n        raise Refusal(422, 'dtype', str(error) or 'no numbers') from None\n    except OverflowError:\n",
            ),
            (TENSOR, ""),
        ],
        check="test_parse_refuses",
    ),
    Wrong(
        "looks at the first item only",
        edits=[(ITEMS, ITEMS.replace("for item in row:", "for item in row[:1]:"))],
        check="test_parse_refuses",
    ),
    Wrong(
        "null is NaN",
        edits=[
            (ITEM, ITEM.replace("(int, float)", "(int, float, type(None))")),
            (NUMBERS, NUMBERS.replace("float(item) for", "float('nan' if item is None else item) for")),
        ],
        check="test_parse_refuses",
    ),
    Wrong("floats only", edits=[(ITEM, "            if type(item) is not float:\n")], check="test_numbers"),
    Wrong("takes NaN", edits=[(FINITE, "")], check="test_parse_refuses", says="no Refusal"),
    Wrong(
        "takes infinity",
        edits=[(FINITE, FINITE.replace("not inputs.isfinite().all()", "inputs.isnan().any()"))],
        check="test_parse_refuses",
    ),
    Wrong(
        "looks for NaN before it rounds to float32",
        edits=[
            (
                FINITE,
                FINITE.replace("inputs.isfinite()", "torch.tensor(numbers, dtype=torch.float64).isfinite()"),
            )
        ],
        check="test_parse_refuses",
    ),
    Wrong(
        "looks at the sum",
        edits=[(FINITE, FINITE.replace("inputs.isfinite().all()", "inputs.sum().isfinite()"))],
        check="test_numbers",
    ),
    Wrong(
        "an OverflowError for large integers",
        edits=[(OVERFLOW, "    except ZeroDivisionError:\n")],
        check="test_parse_refuses",
        says="OverflowError",
    ),
    Wrong(
        "large integers are no numbers",
        edits=[
            (
                '        raise Refusal(422, "not_finite", "an integer is too large") from None\n',
                "        raise Refusal(422, 'dtype', 'too large') from None\n",
            )
        ],
        check="test_parse_refuses",
    ),
    Wrong(
        "NaN is a wrong dtype",
        edits=[(FINITE, FINITE.replace('"not_finite"', '"dtype"'))],
        check="test_parse_refuses",
    ),
    Wrong(
        "cuts off what float32 cannot hold",
        edits=[
            (
                TENSOR,
                TENSOR.replace(
                    "(numbers, dtype=torch.float32)",
                    "(numbers, dtype=torch.float64).clamp(-3.4028234e38, 3.4028234e38).float()",
                ),
            )
        ],
        check="test_parse_refuses",
    ),
    Wrong(
        "refuses the largest number",
        edits=[(FINITE, FINITE.replace("not inputs.isfinite().all()", "not (inputs.abs() < 3.4e38).all()"))],
        check="test_numbers",
    ),
    Wrong(
        "integers by int64",
        edits=[
            (
                NUMBERS,
                "        numbers = [[item if type(item) is float else float(torch.tensor(item)) for item in row] for row in rows]\n",
            ),
            (OVERFLOW, "    except (OverflowError, RuntimeError):\n"),
        ],
        check="test_numbers",
    ),
    Wrong(
        "rounds to six places",
        edits=[
            (TENSOR, TENSOR.replace("(numbers,", "([[round(n, 6) for n in row] for row in numbers],")),
        ],
        check="test_numbers",
    ),
    Wrong(
        "float64",
        edits=[(TENSOR, TENSOR.replace("float32", "float64"))],
        check="test_numbers",
        says="float64",
    ),
    Wrong(
        "integers stay integers",
        edits=[
            (
                TENSOR,
                "    inputs = torch.tensor(numbers)\n    inputs = torch.tensor(rows) if all(type(x) is int for row in rows for x in row) else inputs\n",
            )
        ],
        check="test_numbers",
    ),
    Wrong(
        "KeyError without inputs",
        edits=[(OBJECT, "    if not isinstance(content, dict):\n")],
        check="test_parse_refuses",
        says="KeyError",
    ),
    Wrong(
        "TypeError for null",
        edits=[(OBJECT, '    if "inputs" not in content:\n')],
        check="test_parse_refuses",
        says="TypeError",
    ),
    Wrong(
        "a list at the top is good, too",
        edits=[
            (OBJECT, "    if isinstance(content, list):\n        content = {'inputs': content}\n" + OBJECT)
        ],
        check="test_parse_refuses",
    ),
    Wrong(
        "JSONDecodeError only",
        edits=[(NO_JSON, "    except json.JSONDecodeError as error:\n")],
        check="test_parse_refuses",
        says="another error",
    ),
    Wrong(
        "ValueError only: deep brackets",
        edits=[(NO_JSON, "    except ValueError as error:\n")],
        check="test_parse_refuses",
        says="RecursionError",
    ),
    Wrong(
        "RecursionError and JSONDecodeError: no UTF-8",
        edits=[(NO_JSON, "    except (json.JSONDecodeError, RecursionError) as error:\n")],
        check="test_parse_refuses",
    ),
    Wrong(
        "replaces what is no UTF-8",
        edits=[(DECODE, "        content = json.loads(body.decode(errors='replace'))\n")],
        check="test_parse_refuses",
    ),
    Wrong(
        "no JSON is 422",
        edits=[('Refusal(400, "json", f"the body', 'Refusal(422, "json", f"the body')],
        check="test_parse_refuses",
    ),
    Wrong(
        "no object is a wrong shape",
        edits=[('Refusal(400, "json", \'the body', 'Refusal(422, "shape", \'the body')],
        check="test_parse_refuses",
    ),
    Wrong(
        "no rows are good", edits=[(LIST, "    if not isinstance(rows, list):\n")], check="test_parse_refuses"
    ),
    Wrong(
        "strings and objects are rows",
        edits=[(ROW, ROW.replace("isinstance(row, list)", "hasattr(row, '__len__')"))],
        check="test_parse_refuses",
    ),
    Wrong(
        "looks at the first row only",
        edits=[(ROW, ROW.replace("if not", "if place == 0 and (not").replace("features:", "features):"))],
        check="test_parse_refuses",
    ),
    Wrong(
        "rows too long are cut",
        edits=[
            (ROW, ROW.replace("len(row) != features", "len(row) < features")),
            (NUMBERS, NUMBERS.replace("in row]", "in row[:features]]")),
        ],
        check="test_parse_refuses",
    ),
    Wrong(
        "rows too short are filled up",
        edits=[
            (ROW, ROW.replace("len(row) != features", "len(row) > features")),
            (NUMBERS, NUMBERS.replace("for item in row]", "for item in row + [0] * (features - len(row))]")),
        ],
        check="test_parse_refuses",
    ),
    Wrong(
        "rows as long as the first",
        edits=[(ROW, ROW.replace("features:", "len(rows[0]):"))],
        check="test_parse_refuses",
    ),
    Wrong(
        "one row without a list",
        edits=[
            (
                LIST,
                "    if isinstance(rows, list) and rows and not isinstance(rows[0], (list, dict, str)):\n        rows = [rows]\n"
                + LIST,
            )
        ],
        check="test_parse_refuses",
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
        check="test_parse_refuses",
    ),
    Wrong("any number of rows", edits=[(MANY, "    if False:\n")], check="test_parse_refuses"),
    Wrong("one row less", edits=[(MANY, MANY.replace(">", ">="))], check="test_rows"),
    Wrong(
        "other default",
        edits=[
            (
                "def parse(body: bytes, features: int, max_rows: int = 256)",
                "def parse(body: bytes, features: int, max_rows: int = 255)",
            )
        ],
        check="test_rows",
    ),
    Wrong(
        "the application has the default of parse",
        edits=[(READ, READ.replace(", features, max_rows)", ", features)"))],
        check="test_rows",
    ),
    Wrong(
        "too many rows are 422",
        edits=[('Refusal(413, "too_large", f"{len(rows)}', 'Refusal(422, "too_large", f"{len(rows)}')],
        check="test_parse_refuses",
    ),
    Wrong(
        "a detail that is empty",
        edits=[('"row {place} {size}, not {features}"', '""')],
        check="test_parse_refuses",
    ),
    Wrong(
        "no detail",
        edits=[(REFUSED, REFUSED.replace(', "detail": refusal.detail', ""))],
        check="test_app_refuses",
    ),
    Wrong(
        "a refusal with status 200",
        edits=[(REFUSED, REFUSED.replace(", status_code=refusal.status", ""))],
        check="test_app_refuses",
    ),
    Wrong(
        "always 400", edits=[(REFUSED, REFUSED.replace("refusal.status", "400"))], check="test_app_refuses"
    ),
    Wrong(
        "plain text",
        edits=[
            (
                REFUSED,
                "            from starlette.responses import PlainTextResponse\n\n            return PlainTextResponse(refusal.detail, refusal.status)\n",
            )
        ],
        check="test_app_refuses",
        says="JSON",
    ),
    Wrong(
        "JSON as text/plain",
        edits=[
            (
                REFUSED,
                REFUSED.replace(
                    "return JSONResponse(told, status_code=refusal.status)",
                    "return JSONResponse(told, status_code=refusal.status, media_type='text/plain')",
                ),
            )
        ],
        check="test_app_refuses",
        says="content type",
    ),
    Wrong(
        "calls the model first",
        edits=[(READ, "            run(torch.zeros(1, features))\n" + READ)],
        check="test_app_refuses",
        says="number of calls",
    ),
    Wrong(
        "a row at a time",
        edits=[
            (
                "                outputs = model(inputs)  # (rows, outputs)\n",
                "                outputs = torch.cat([model(row[None]) for row in inputs])\n",
            )
        ],
        check="test_outputs",
    ),
    Wrong(
        "records a graph",
        edits=[(MODEL, "            if True:\n"), ("outputs.tolist()", "outputs.detach().tolist()")],
        check="test_outputs",
    ),
    Wrong(
        "no_grad around the wrong thread",
        edits=[
            (MODEL, "            if True:\n"),
            (ANSWER, "            with torch.no_grad():\n    " + ANSWER),
        ],
        check="test_outputs",
    ),
    Wrong(
        "flattens outputs",
        edits=[("= outputs.tolist()", "= outputs.flatten().tolist()")],
        check="test_outputs",
    ),
    Wrong(
        "rounds outputs",
        edits=[("= outputs.tolist()", "= outputs.mul(1000).round().div(1000).tolist()")],
        check="test_outputs",
    ),
    Wrong(
        "outputs as text",
        edits=[
            (
                ANSWER,
                ANSWER.replace(
                    "await run_in_threadpool(run, inputs)", "str(await run_in_threadpool(run, inputs))"
                ),
            )
        ],
        check="test_outputs",
    ),
    Wrong("another key", edits=[('"outputs": await', '"predictions": await')], check="test_outputs"),
    Wrong(
        "reads all, then counts",
        edits=[
            (GROW + LIMIT, GROW),
            (
                "    return bytes(body)\n",
                "    if len(body) > max_bytes:\n        raise Refusal(413, 'too_large', 'too large')\n    return bytes(body)\n",
            ),
        ],
        check="test_an_endless_body",
        says="reads on",
    ),
    Wrong(
        "remembers the tensors of earlier bodies, into which a model may have written",
        edits=[
            ("def make_app(", "parse = functools.lru_cache(parse)\n\n\ndef make_app("),
            ("import json\n", "import functools\nimport json\n"),
        ],
        check="test_outputs",
        says="again, for a model",
    ),
    Wrong(
        "counts before it adds a chunk, so one more is read",
        edits=[
            (GROW + LIMIT, "        if len(body) > max_bytes:\n            break\n" + GROW),
            (
                "    return bytes(body)\n",
                "    if len(body) > max_bytes:\n"
                "        raise Refusal(413, 'too_large', 'too large')\n"
                "    return bytes(body)\n",
            ),
        ],
        check="test_an_endless_body",
        says="too much",
    ),
    Wrong(
        "trusts Content-Length",
        edits=[
            (LIMIT, ""),
            (
                "    body = bytearray()\n",
                "    body = bytearray()\n    if int(request.headers.get('content-length', 0)) > max_bytes:\n        raise Refusal(413, 'too_large', 'too large')\n",
            ),
        ],
        check="test_large_bodies",
    ),
    Wrong(
        "wants Content-Length",
        edits=[
            (
                "    body = bytearray()\n",
                "    body = bytearray()\n    if 'content-length' not in request.headers:\n        raise Refusal(413, 'too_large', 'how large?')\n",
            )
        ],
        check="test_outputs",
    ),
    Wrong(
        "cuts the body off",
        edits=[(LIMIT, "        if len(body) > max_bytes:\n            return bytes(body[:max_bytes])\n")],
        check="test_large_bodies",
    ),
    Wrong("any size", edits=[(LIMIT, "")], check="test_large_bodies"),
    Wrong("one byte less", edits=[(LIMIT, LIMIT.replace(">", ">="))], check="test_large_bodies"),
    Wrong(
        "counts chunks one by one",
        edits=[(LIMIT, LIMIT.replace("len(body)", "len(chunk)"))],
        check="test_large_bodies",
    ),
    Wrong(
        "another default",
        edits=[("max_bytes: int = 1_000_000", "max_bytes: int = 1 << 20")],
        check="test_large_bodies",
    ),
    Wrong(
        "the first chunk only",
        edits=[(LIMIT, LIMIT + "        if chunk:\n            break\n")],
        check="test_chunks",
    ),
    Wrong(
        "decodes each chunk",
        edits=[(GROW, "        body += chunk.decode().encode()\n"), (READ, READ)],
        check="test_chunks",
    ),
    Wrong("strips each chunk", edits=[(GROW, "        body += chunk.strip()\n")], check="test_large_bodies"),
    Wrong(
        "joins chunks with spaces",
        edits=[(GROW, "        body += b' ' * bool(body) + chunk\n")],
        check="test_chunks",
    ),
    Wrong(
        "the model's exception goes up",
        edits=[(FAILED, "        except ZeroDivisionError:\n            raise\n")],
        check="test_a_model_that_fails",
    ),
    Wrong(
        "tells the exception",
        edits=[
            (
                FAILED,
                "        except Exception as error:\n            raise Refusal(500, 'model', f'the model failed: {error}') from None\n",
            )
        ],
        check="test_a_model_that_fails",
        says="exception",
    ),
    Wrong(
        "RuntimeError only",
        edits=[(FAILED, FAILED.replace("Exception", "RuntimeError"))],
        check="test_a_model_that_fails",
    ),
    Wrong(
        "a bad model is a bad request",
        edits=[(FAILED, FAILED.replace("500", "422"))],
        check="test_a_model_that_fails",
    ),
    Wrong("returns NaN", edits=[(OUTPUTS, "")], check="test_a_model_that_fails"),
    Wrong(
        "looks for NaN, not for inf",
        edits=[("bool(outputs.isfinite().all())", "not bool(outputs.isnan().any())")],
        check="test_a_model_that_fails",
    ),
    Wrong(
        "null for NaN",
        edits=[(OUTPUTS, "        if not finite:\n            return None\n")],
        check="test_a_model_that_fails",
    ),
    Wrong(
        "is broken for good by an error",
        edits=[
            ("    def run(inputs: Tensor)", "    broken = []\n\n    def run(inputs: Tensor)"),
            (
                FAILED,
                "        except Exception:\n            broken.append(1)\n            raise Refusal(500, 'model', 'broken') from None\n        if broken:\n            raise Refusal(500, 'model', 'broken')\n",
            ),
        ],
        check="test_a_model_that_fails",
    ),
    Wrong(
        "any method",
        edits=[(ROUTE, ROUTE.replace('["POST"]', '["POST", "GET", "PUT", "DELETE", "PATCH"]'))],
        check="test_paths_and_methods",
    ),
    Wrong(
        "any path",
        edits=[(ROUTE, ROUTE.replace('"/predict"', '"/{path:path}"'))],
        check="test_paths_and_methods",
    ),
    Wrong(
        "a body for all requests",
        edits=[
            ("    body = bytearray()\n    async for", "    body = _BODY\n    body.clear()\n    async for"),
            ("async def _read(", "_BODY = bytearray()\n\n\nasync def _read("),
            (GROW, GROW + "        import asyncio\n\n        await asyncio.sleep(0)\n"),
        ],
        check="test_overlapping_requests",
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
    Wrong(
        "turns gradients off in a thread of the pool, for good",
        edits=[(MODEL, "            torch.set_grad_enabled(False)\n            if True:\n")],
        check="test_overlapping_requests",
        says="gradients are off in a thread",
    ),
    Wrong(
        "integers of 39 digits are too large",
        edits=[
            (
                NUMBERS,
                "        if any(type(i) is int and abs(i) >= 10**38 for row in rows for i in row):\n            raise OverflowError\n"
                + NUMBERS,
            )
        ],
        check="test_numbers",
    ),
    Wrong(
        "takes OPTIONS for POST",
        edits=[(ROUTE, ROUTE.replace('["POST"]', '["POST", "OPTIONS"]'))],
        check="test_paths_and_methods",
        says="OPTIONS",
    ),
    Wrong(
        "leaves gradients off where the model raises",
        edits=[
            (MODEL, "            torch.set_grad_enabled(False)\n            if True:\n"),
            ("= outputs.tolist()\n", "= outputs.tolist()\n                torch.set_grad_enabled(True)\n"),
            (ANSWER, '            return JSONResponse({"outputs": run(inputs)})\n'),
        ],
        check="test_a_model_that_fails",
        says="gradients are off",
    ),
    Wrong(
        "remembers its answers",
        edits=[
            (ROUTE, "    known = {}\n" + ROUTE),
            (
                ANSWER,
                "            key = str(inputs.tolist())\n"
                "            if key not in known:\n"
                "                known[key] = await run_in_threadpool(run, inputs)\n"
                '            return JSONResponse({"outputs": known[key]})\n',
            ),
        ],
        check="test_outputs",
        says="same body",
    ),
    Wrong(
        "refuses what does not call itself JSON",
        edits=[
            (
                READ,
                '            if request.headers.get("content-type") != "application/json":\n'
                '                raise Refusal(400, "json", "the content type is not application/json")\n'
                + READ,
            )
        ],
        check="test_chunks",
        says="text/plain",
    ),
    Wrong(
        "says back what it was sent, be it half of a surrogate pair",
        edits=[("holds {type(item).__name__}, not numbers", "holds {item}, not numbers")],
        check="test_app_refuses",
        says="surrogate",
    ),
    Wrong(
        "takes what float32 rounds to inf",
        edits=[
            (FINITE, ""),
            (
                OVERFLOW,
                "        if any(not abs(item) < 3.4029e38 for row in numbers for item in row):\n"
                "            raise Refusal(422, 'not_finite', 'too large for float32')\n" + OVERFLOW,
            ),
        ],
        check="test_parse_refuses",
        says="-3.4028235678e38",
    ),
    Wrong(
        "rounds the outputs to six decimals",
        edits=[
            (
                "lists: list[list[float]] = outputs.tolist()",
                "lists = (outputs.double() * 1e6).round().div(1e6).tolist() if outputs.is_floating_point() "
                "else outputs.tolist()",
            )
        ],
        check="test_outputs",
    ),
    Wrong(
        "tries a second time where the model raises RuntimeError",
        edits=[
            (
                "                outputs = model(inputs)  # (rows, outputs)\n",
                "                try:\n                    outputs = model(inputs)\n"
                "                except RuntimeError:\n                    outputs = model(inputs)\n",
            )
        ],
        check="test_a_model_that_fails",
        says="number of calls",
    ),
    Wrong(
        "cuts zero bytes off the end",
        edits=[(DECODE, DECODE.replace("decode()", 'decode().rstrip("\\0")'))],
        check="test_parse_refuses",
        says="zero byte",
    ),
    Wrong(
        "is not strict about strings",
        edits=[(DECODE, DECODE.replace("decode())", "decode(), strict=False)"))],
        check="test_parse_refuses",
        says="line break",
    ),
]
