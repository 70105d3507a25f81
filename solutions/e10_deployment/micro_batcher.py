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
    def __init__(
        self,
        predict: Callable[[Tensor], Awaitable[Tensor]],
        shape: Sequence[int],
        dtype: torch.dtype = torch.float32,
        *,
        max_size: int = 32,
        max_delay: float = 0.005,
    ) -> None:
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
        self._closed = True
        self._send()
        while self._batches:
            await asyncio.wait(self._batches)

    def _look(self) -> None:
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
        except Exception as error:
            for request in batch:
                if not request.result.done():
                    request.result.set_exception(error)
        else:
            for request, row in zip(batch, rows, strict=True):
                if not request.result.done():
                    request.result.set_result(row.clone())
