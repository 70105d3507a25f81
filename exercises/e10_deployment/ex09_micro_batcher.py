"""Single requests in batches: requests come one by one, and a model is fast in batches.

Whoever comes first waits a little, at most max_delay seconds, for others to come along; then all that wait go to the
model as one batch, and each caller gets its own row.

    async def predict(batch):                     # (n, 2) → (n, 2), on a GPU far away
        return 10 * batch

    batcher = MicroBatcher(predict, (2,), max_size=3, max_delay=0.5)
    await batcher.submit(torch.tensor([1.0, 2.0]))         # alone: after 0.5 s [10, 20], from a batch of 1
    await asyncio.gather(*map(batcher.submit, torch.ones(4, 2)))   # 3 go at once, the last one after 0.5 s
    await batcher.close()

- A batch goes to predict as soon as max_size requests wait; else when the first of them has waited for max_delay.
- It is one tensor (n, *shape), in the order in which they came; row i of the result is for request i.
- If predict raises, all callers of that batch, no others, get the error.
- Time is that of the event loop (`asyncio.sleep`, `loop.call_later`); in the checks its clock jumps.

Fine print:
- Batches do not wait for one another: the next one goes when it is due, also while predict has others. (One worker that
  takes requests from a queue and awaits predict does the job.)
- Batches and rows have memory of their own: predict may work in place, and a view would keep the whole batch alive.
- If predict returns no tensor of n rows, its callers get RuntimeError. Whatever it raises, CancelledError and
  StopIteration (as RuntimeError) too, nobody waits for ever.
- A request of another shape or dtype raises ValueError at its caller, at once; nobody else notices.
- A caller that is cancelled no longer waits: its request is not sent any more, and does not count for size or delay.
  Where it is with predict already, the others still get their rows.
- close() sends what waits at once, and returns when all batches are done; it may be called twice. Then submit raises
  RuntimeError.
- ValueError for a max_size below 1 or a negative max_delay. A batcher may be built before a loop runs.
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
