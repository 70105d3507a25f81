"""An endpoint that refuses what its model cannot use, and says why.

Behind HTTP a model gets whatever people send. Without a look at it, true becomes 1.0, a NaN goes in and a NaN
comes out, [[1, 2], [3]] ends in a page of traceback, and a gigabyte of zeros takes the service down.

    app = make_app(model, features=3)           # model: float32 (rows, 3) → (rows, outputs)
    POST /predict   {"inputs": [[1, 2.5, -3], [0, 0, 1e-3]]}
    200             {"outputs": [[0.25], [-1.5]]}
    POST /predict   {"inputs": [[1, 2, 3], [4, 5]]}
    422             {"error": "shape", "detail": "row 1 has 2 items, not 3"}

What is refused, with which status and which name. Where several apply, any of them will do:

    413  too_large    the body has more than max_bytes bytes; there are more than max_rows rows
    400  json         the body is no JSON in UTF-8, or no object with the key "inputs"
    422  shape        inputs is no list of rows, or one of them is no list of `features` items; no rows at all
    422  dtype        an item is no number: a string, true, false, null, a list, an object
    422  not_finite   a number is NaN or Infinity (no JSON, but Python reads and writes it), or too large for
                      float32, such as 1e39, 1e999 or an integer of 400 digits
    500  model        the model raises, or returns a number that is not finite

Rules:
- parse takes a body to a float32 tensor (rows, features), each number rounded once. It raises Refusal, which
  is given, for all of the table but max_bytes and the last line. Whatever the bytes are, no other error
  comes out of it.
- make_app makes an ASGI application; Starlette is at hand. POST /predict answers with JSON (content type
  application/json): status 200 and the outputs in nested lists, or what was refused: status, "error" and in
  "detail" a sentence that is not empty. Any other path, such as /predict/, is answered with 404, any other
  method with 405.
- A body comes in chunks, cut anywhere. Content-Length may be missing, or too small. As soon as more than
  max_bytes bytes have come, the rest is not read any more.
- The model is called once for each request that is right, with no graph recorded, and never for others; who
  records graphs elsewhere in the process still does. What an exception of the model says stays inside: it may
  hold paths or data of others.
- After a refusal or an error the application goes on as before. Requests may overlap.
"""

from collections.abc import Callable

from jaxtyping import Float
from starlette.types import ASGIApp
from torch import Tensor


class Refusal(Exception):
    """Given: a request that is not answered.

    Args:
        status: of the HTTP response.
        error: the name of what is wrong.
        detail: what is wrong, for people.
    """

    def __init__(self, status: int, error: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.error = error
        self.detail = detail


def parse(body: bytes, features: int, max_rows: int = 256) -> Float[Tensor, "rows features"]:
    """The inputs that a body holds.

    Args:
        body: of a request.
        features: how many numbers a row has.
        max_rows: the most rows.

    Returns:
        The rows in float32.

    Raises:
        Refusal: the body does not hold such rows.
    """
    raise NotImplementedError


def make_app(
    model: Callable[[Tensor], Tensor], features: int, *, max_rows: int = 256, max_bytes: int = 1_000_000
) -> ASGIApp:
    """An ASGI application that answers POST /predict.

    Args:
        model: takes float32 (rows, features) to (rows, outputs).
        features: how many numbers a row has.
        max_rows: the most rows in a request.
        max_bytes: the most bytes in the body of a request.
    """

    raise NotImplementedError
