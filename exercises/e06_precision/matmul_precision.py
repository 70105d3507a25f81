"""A setting for a while: how exact float32 products are.

Many GPUs multiply float32 several times faster in TensorFloat-32, which has eleven binary digits.
`torch.set_float32_matmul_precision("high")` allows it, for the whole process: whoever sets it changes everybody's results.
Write a context manager that sets it for a block.

    torch.set_float32_matmul_precision("highest")
    with matmul_precision("high"):
        torch.get_float32_matmul_precision()      # "high"
    torch.get_float32_matmul_precision()          # "highest" again

- After the block the setting is what it was before, whatever that was; blocks may be nested.
- So it is where the block raises; the error goes on to the caller.
- It decorates functions as well: `@matmul_precision("highest")` holds for each call.
- Nothing changes before the block is entered.

Fine print:
- Another mode than "highest", "high" and "medium" raises ValueError, when it is named or when the block is entered, and the
  setting stays: PyTorch itself only warns.
- What the block sets itself is undone, too.
- A decorated function may call itself, and be called again.
"""

from contextlib import AbstractContextManager


def matmul_precision(mode: str) -> AbstractContextManager[None]:
    """Within the block, or the function decorated, float32 products have this precision."""
    raise NotImplementedError
