"""Single requests in batches, which a model answers faster.

The first request waits a little for others, then all go to the model as one batch, and each caller gets its row.

    async def predict(batch):                     # (n, 2) → (n, 2), on a GPU far away
        return 10 * batch

    batcher = MicroBatcher(predict, (2,), max_size=3, max_delay=0.5)
    await batcher.submit(torch.tensor([1.0, 2.0]))         # alone: after 0.5 s [10, 20], from a batch of 1
    await asyncio.gather(*map(batcher.submit, torch.eye(4, 2)))    # 3 go at once, the last one after 0.5 s
    await batcher.close()

- A batch goes as soon as max_size requests wait, or when the first has waited max_delay seconds.
- It is one tensor (n, *shape), in order of arrival; row i of the result is for request i.
- If predict raises, all callers of that batch, no others, get the error.
- Time is that of the event loop (`loop.call_later`, `asyncio.sleep`): in the checks its clock jumps.

Fine print:
- A batch goes when it is due, also while predict is busy with others. (One worker that awaits predict does the job.)
- Each row has memory of its own: a view would keep the whole batch alive.
- If predict returns no tensor of n rows, its callers get RuntimeError.
- A request of another shape or dtype raises ValueError at once; others notice nothing.
- A caller that is cancelled no longer waits: its request is not sent, and does not count for size or delay. If predict
  has it already, the others still get their rows.
- close() sends what waits at once, and returns when all batches are done. Then submit raises RuntimeError.
"""

from collections.abc import Awaitable, Callable, Sequence

import torch
from torch import Tensor


class MicroBatcher:
    """Collects single requests of one shape and dtype into batches for `predict`."""

    def __init__(
        self,
        predict: Callable[[Tensor], Awaitable[Tensor]],
        shape: Sequence[int],
        dtype: torch.dtype = torch.float32,
        *,
        max_size: int = 32,
        max_delay: float = 0.005,
    ) -> None:
        raise NotImplementedError

    async def submit(self, x: Tensor) -> Tensor:
        """Hand in one request, and wait for its row."""
        raise NotImplementedError

    async def close(self) -> None:
        """Send what waits, and wait for all answers."""
        raise NotImplementedError
