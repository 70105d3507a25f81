"""Requests come one by one; a model is fast in batches. A micro-batcher brings them together.

Each caller awaits the answer to its own request. Whoever comes first waits a little, at most max_delay
seconds, for others to come along; then all that wait go to the model as one batch:

    async def predict(batch):                     # (n, 2) → (n, 2), on a GPU far away
        return 10 * batch

    batcher = MicroBatcher(predict, (2,), max_size=3, max_delay=0.5)
    await batcher.submit(torch.tensor([1.0, 2.0]))         # alone: after 0.5 s [10, 20], from a batch of 1
    await asyncio.gather(*map(batcher.submit, torch.ones(4, 2)))   # 3 go at once, the last one after 0.5 s
    await batcher.close()

Rules:
- A batch goes to predict as soon as max_size requests wait; else when the one that has waited longest has
  waited for max_delay seconds, neither earlier nor later. In it are all that wait, in the order in which they
  came, as one tensor (n, *shape) in memory of its own: predict may work in place. Nobody goes to predict
  twice, and no batch is empty.
- Batches do not wait for one another: the next one goes when it is due, also while predict has others.
- Row i of what predict returns is for request i; each caller gets its row in memory of its own, since a view
  would keep the whole batch alive.
- If predict raises, when it is called or when it is awaited, all callers of that batch get this very error
  (RuntimeError for StopIteration, which no future takes), and nobody else does. If it returns anything but a
  tensor of n rows, they get RuntimeError. Whatever happens in predict, nobody waits for ever, and the batcher
  goes on.
- A request of another shape or dtype than the batcher's raises ValueError at its caller, at once. No batch
  sees it, and nobody else notices.
- A caller that is cancelled (also by asyncio.wait_for) no longer waits: from the moment of `cancel()` on, in
  the same turn of the loop too, its request is not sent any more and does not count for size or delay. Where
  it is with predict already, the others still get their rows: predict itself is not cancelled.
- close() sends what waits at once, and returns when predict is done with all batches; no task is left then,
  and errors reach the callers only. From the call of close() on, submit raises RuntimeError. close may be
  called twice, also at the same time; where a close is cancelled, predict goes on.
- Time is that of the event loop (`asyncio.sleep`, `loop.call_later`, `loop.time()`), not of the machine: the
  checks have a loop whose clock jumps. A batcher may be built before a loop runs. Nothing polls.

ValueError for a max_size below 1 or a negative max_delay.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(eq=False)
class _Request:
    x: Tensor
    result: asyncio.Future[Tensor]
    due: float


class MicroBatcher:
    """Collects single requests into batches.

    Args:
        predict: takes a batch (n, *shape), and returns a tensor of n rows.
        shape: of each request.
        dtype: of each request.
        max_size: the most requests in a batch.
        max_delay: for how many seconds a request may wait for others.

    Raises:
        ValueError: max_size is below 1, or max_delay negative.
    """

    def __init__(
        self,
        predict: Callable[[Tensor], Awaitable[Tensor]],
        shape: Sequence[int],
        dtype: torch.dtype = torch.float32,
        *,
        max_size: int = 32,
        max_delay: float = 0.005,
    ) -> None:
        if max_size < 1 or max_delay < 0:
            raise ValueError(f"max_size={max_size} must be 1 or more, max_delay={max_delay} not negative")
        self._predict = predict
        self._shape = tuple(shape)
        self._dtype = dtype
        self._max_size = max_size
        self._max_delay = max_delay
        self._waiting: list[_Request] = []
        self._timer: asyncio.TimerHandle | None = None
        self._batches: set[asyncio.Task[None]] = set()  # the loop itself holds tasks weakly
        self._closed = False

    async def submit(self, x: Tensor) -> Tensor:
        """Hand in one request, and wait for its row.

        Args:
            x: the request, of the batcher's shape and dtype.

        Raises:
            ValueError: x has another shape or dtype.
            RuntimeError: the batcher is closed, or predict returned something else than n rows.
        """
        if self._closed:
            raise RuntimeError("the batcher is closed")
        if x.shape != self._shape or x.dtype != self._dtype:
            raise ValueError(f"a request must be {self._dtype} {self._shape}, not {x.dtype} {tuple(x.shape)}")
        loop = asyncio.get_running_loop()
        request = _Request(x, loop.create_future(), loop.time() + self._max_delay)
        self._waiting.append(request)
        self._look()
        try:
            return await request.result
        except asyncio.CancelledError:  # the next one may be due later
            self._look()
            raise

    async def close(self) -> None:
        """Send what waits, and wait for all answers."""
        self._closed = True
        self._send()
        while self._batches:
            await asyncio.wait(self._batches)

    def _look(self) -> None:
        """Send what waits if it is enough, else plan to send it when the first is due."""
        self._waiting = [one for one in self._waiting if not one.result.done()]  # without who has left
        if len(self._waiting) >= self._max_size:
            self._send()
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting:
            self._timer = asyncio.get_running_loop().call_at(self._waiting[0].due, self._send)

    def _send(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        # who has been cancelled in this very turn is still here
        batch = [request for request in self._waiting if not request.result.done()]
        self._waiting = []
        if batch:
            task = asyncio.get_running_loop().create_task(self._answer(batch))
            self._batches.add(task)
            task.add_done_callback(self._batches.discard)

    async def _answer(self, batch: list[_Request]) -> None:
        try:
            rows = await self._predict(torch.stack([request.x for request in batch]))  # (n, ...)
            if not isinstance(rows, Tensor) or rows.ndim == 0 or len(rows) != len(batch):
                raise RuntimeError(f"predict did not return {len(batch)} rows for {len(batch)} requests")
        except BaseException as error:
            told = RuntimeError(repr(error)) if isinstance(error, StopIteration) else error
            for request in batch:
                if not request.result.done():
                    request.result.set_exception(told)
            if not isinstance(error, Exception):
                raise
        else:
            for request, row in zip(batch, rows, strict=True):
                if not request.result.done():
                    request.result.set_result(row.clone())
