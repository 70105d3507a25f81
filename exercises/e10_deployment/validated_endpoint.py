"""An endpoint that says no: it refuses what its model cannot use, and says why.

Behind HTTP a model gets whatever people send. Without a look at it, true becomes 1.0, and a NaN goes in and comes out.

    app = make_app(model, features=3)           # model: float32 (rows, 3) → (rows, outputs)
    POST /predict   {"inputs": [[1, 2.5, -3], [0, 0, 1e-3]]}
    200             {"outputs": [[0.25], [-1.5]]}
    POST /predict   {"inputs": [[1, 2, 3], [4, 5]]}
    422             {"error": "shape", "detail": "row 1 has 2 items, not 3"}

    413  too_large    the body has more than max_bytes bytes; there are more than max_rows rows
    400  json         the body is no JSON, or no object with the key "inputs"
    422  shape        inputs is no list of rows, or a row is no list of `features` items; no rows at all
    422  dtype        an item is no number: a string, true, false, null, a list
    422  not_finite   a number is NaN or Infinity, which Python's json reads
    500  model        the model raises, or returns a number that is not finite

- parse takes a body to a float32 tensor (rows, features), or raises Refusal, which is given.
- make_app makes an ASGI application, with Starlette say, that answers as above, in JSON.

Fine print:
- Where several refusals apply, any of them will do. "detail" is a sentence that is not empty.
- Whatever the bytes are, nothing but Refusal comes out of parse: JSON is UTF-8, and may be nested 100000 deep.
- Too large for float32 is not_finite, too: 1e39, 1e999, an integer of 400 digits.
- As soon as more than max_bytes bytes have come, the rest is not read any more. Content-Length may be missing or too
  small, and chunks may be cut anywhere.
- The model is called once for each request that is right, and records no graph. What its exceptions say stays inside:
  it may hold paths or data of others.
- Any other path, such as /predict/, is answered with 404, any other method with 405. Requests may overlap.
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
    """The inputs that a body holds, in float32; or Refusal."""
    raise NotImplementedError


def make_app(
    model: Callable[[Tensor], Tensor], features: int, *, max_rows: int = 256, max_bytes: int = 1_000_000
) -> ASGIApp:
    """An ASGI application that answers POST /predict."""
    raise NotImplementedError
