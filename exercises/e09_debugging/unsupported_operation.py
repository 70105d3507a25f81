"""An operation that the device lacks.

Your model is to run on a new device, which lacks one operation: the call raises NotImplementedError. All others work.
`with_fallback` wraps that operation: where it is lacking, the CPU computes it, and the result comes back.

    running = with_fallback(torch.cumsum)
    x = torch.tensor([1.0, 2.0, 4.0], device=device)     # a device without cumsum
    running(x, dim=0)          # [1, 3, 7] on that device: it was computed on the CPU
    running(x.cpu(), dim=0)    # [1, 3, 7] on the CPU: it worked at once, and nothing was moved

- First the operation gets its arguments as they are. If it works, its result is yours.
- Tensors may come by position or by keyword, all from one device; what is no tensor is handed on as it is.
- Gradients reach the tensors that were given.
- Every other error reaches the caller, and there is no second attempt.

Fine print:
- Where the operation returns a tuple, a tuple comes back: its tensors on the device, all else as it is.
- If the CPU lacks it as well, its NotImplementedError reaches the caller.
"""

from collections.abc import Callable
from typing import Any


def with_fallback(operation: Callable[..., Any]) -> Callable[..., Any]:
    """The operation, which the CPU computes where a device lacks it."""
    raise NotImplementedError
