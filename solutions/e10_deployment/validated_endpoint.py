import json
from collections.abc import Callable

import torch
from jaxtyping import Float
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp
from torch import Tensor


class Refusal(Exception):
    def __init__(self, status: int, error: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.error = error
        self.detail = detail


def parse(body: bytes, features: int, max_rows: int = 256) -> Float[Tensor, "rows features"]:
    try:
        content = json.loads(body.decode())
    except (ValueError, RecursionError) as error:  # also of an integer of 5000 digits
        raise Refusal(400, "json", f"the body is no JSON: {str(error)[:100]}") from None
    if not isinstance(content, dict) or "inputs" not in content:
        raise Refusal(400, "json", 'the body is no object with the key "inputs"')
    rows = content["inputs"]
    if not isinstance(rows, list) or not rows:
        raise Refusal(422, "shape", "inputs is no list of rows")
    if len(rows) > max_rows:
        raise Refusal(413, "too_large", f"{len(rows)} rows are more than {max_rows}")
    for place, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != features:
            size = f"has {len(row)} items" if isinstance(row, list) else "is no list"
            raise Refusal(422, "shape", f"row {place} {size}, not {features}")
        for item in row:
            if type(item) not in (int, float):  # a bool is an int
                raise Refusal(422, "dtype", f"row {place} holds {type(item).__name__}, not numbers only")
    try:
        numbers = [[float(item) for item in row] for row in rows]  # an int may be beyond int64
    except OverflowError:
        raise Refusal(422, "not_finite", "an integer is too large") from None
    inputs = torch.tensor(numbers, dtype=torch.float32)  # (rows, features)
    if not inputs.isfinite().all():
        raise Refusal(422, "not_finite", "a number is NaN, infinite or too large for float32")
    return inputs


def make_app(
    model: Callable[[Tensor], Tensor], features: int, *, max_rows: int = 256, max_bytes: int = 1_000_000
) -> ASGIApp:
    def run(inputs: Tensor) -> list[list[float]]:
        try:
            with torch.inference_mode():
                outputs = model(inputs)  # (rows, outputs)
                finite = bool(outputs.isfinite().all())
                lists: list[list[float]] = outputs.tolist()
        except Exception:
            raise Refusal(500, "model", "the model failed") from None
        if not finite:
            raise Refusal(500, "model", "the model returned numbers that are not finite")
        return lists

    async def predict(request: Request) -> JSONResponse:
        try:
            inputs = parse(await _read(request, max_bytes), features, max_rows)
            return JSONResponse({"outputs": await run_in_threadpool(run, inputs)})
        except Refusal as refusal:
            told = {"error": refusal.error, "detail": refusal.detail}
            return JSONResponse(told, status_code=refusal.status)

    app = Starlette(routes=[Route("/predict", predict, methods=["POST"])])
    app.router.redirect_slashes = False  # /predict/ is no path of ours
    return app


async def _read(request: Request, max_bytes: int) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            raise Refusal(413, "too_large", f"the body has more than {max_bytes} bytes")
    return bytes(body)
