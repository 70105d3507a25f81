"""Answers to micro_batcher that people write."""

from grader.authoring.specimen import Right, Works, Wrong

GUARD = "        if x.shape != self._shape or x.dtype != self._dtype:\n"
CLOSE = """        self._closed = True
        self._send()
        while self._batches:
            await asyncio.wait(self._batches)
"""
FULL = """        if len(self._waiting) >= self._max_size:
            self._send()
            return
"""
STOP = """            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting:
"""
PLAN = "            self._timer = asyncio.get_running_loop().call_at(self._waiting[0].due, self._send)\n"
SEND = """    def _send(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
"""
BATCH = "        batch = [request for request in self._waiting if not request.result.done()]\n"
ROWS = "            rows = await self._predict(torch.stack([request.x for request in batch]))  # (n, ...)\n"
FIT = "            if not isinstance(rows, Tensor) or rows.ndim == 0 or len(rows) != len(batch):\n"
TELL = """            for request in batch:
                if not request.result.done():
                    request.result.set_exception(error)
"""
RESULT = """                if not request.result.done():
                    request.result.set_result(row.clone())
"""
DUE = "loop.time() + self._max_delay)\n"

SPECIMENS = [
    Wrong(
        "no batches: predict for each",
        edits=[(FULL, "        if self._waiting:\n            self._send()\n            return\n")],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "one more than max_size",
        edits=[(FULL, FULL.replace(">=", ">"))],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "waits for full batches only",
        edits=[(PLAN, "            pass\n")],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "the delay begins anew with each request",
        edits=[(PLAN, PLAN.replace("self._waiting[0].due", "self._waiting[-1].due"))],
        check="test_delay",
        rung="job",
    ),
    Wrong(
        "the timer of a batch that was full goes on",
        edits=[
            (SEND, "    def _send(self) -> None:\n"),
            (STOP, "            return\n        if len(self._waiting) == 1:\n"),
        ],
        check="test_delay",
        rung="job",
    ),
    Wrong(
        "the machine's clock",
        edits=[
            (DUE, "__import__('time').monotonic() + self._max_delay)\n"),
            (
                PLAN,
                "            self._timer = asyncio.get_running_loop().call_later(max(0.0, self._waiting[0].due - __import__('time').monotonic()), self._send)\n",
            ),
        ],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "the last first",
        edits=[(BATCH, BATCH.replace("in self._waiting if", "in self._waiting[::-1] if"))],
        check="test_size",
        rung="job",
    ),
    Wrong(
        "rows in reverse",
        edits=[("zip(batch, rows, strict=True)", "zip(batch, rows.flip(0), strict=True)")],
        check="test_size",
        rung="job",
    ),
    Wrong(
        "everybody gets the first row",
        edits=[("set_result(row.clone())", "set_result(rows[0].clone())")],
        check="test_size",
        rung="job",
    ),
    Wrong(
        "everybody gets all rows",
        edits=[("set_result(row.clone())", "set_result(rows.clone())")],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "rows keep a batch dimension of 1",
        edits=[("set_result(row.clone())", "set_result(row.clone()[None])")],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "an error goes to the first caller only",
        edits=[(TELL, TELL.replace("for request in batch:", "for request in batch[:1]:"))],
        check="test_errors_reach_their_callers",
        rung="job",
    ),
    Wrong("views of the batch", edits=[("row.clone()", "row")], check="test_own_memory"),
    Wrong(
        "one batch at a time",
        edits=[
            (
                "        self._closed = False\n",
                "        self._closed = False\n        self._busy = asyncio.Lock()\n",
            ),
            (ROWS, "            async with self._busy:\n    " + ROWS),
        ],
        check="test_batches_do_not_wait",
    ),
    Wrong(
        "callers await the task of their batch",
        code="""
import asyncio

import torch


class MicroBatcher:
    def __init__(self, predict, shape, dtype=torch.float32, *, max_size=32, max_delay=0.005):
        self.predict, self.shape, self.dtype = predict, tuple(shape), dtype
        self.max_size, self.max_delay = max_size, max_delay
        self.xs, self.full, self.task, self.closed, self.tasks = [], None, None, False, set()

    async def run(self, xs, full):
        try:
            await asyncio.wait_for(full.wait(), self.max_delay)
        except asyncio.TimeoutError:
            pass
        if self.xs is xs:
            self.xs = []
        rows = await self.predict(torch.stack(xs))
        if not isinstance(rows, torch.Tensor) or rows.ndim == 0 or len(rows) != len(xs):
            raise RuntimeError("rows")
        return rows

    async def submit(self, x):
        if self.closed:
            raise RuntimeError("closed")
        if x.shape != self.shape or x.dtype != self.dtype:
            raise ValueError("shape")
        if not self.xs:
            self.xs, self.full = [], asyncio.Event()
            self.xs.append(x)
            self.task = asyncio.create_task(self.run(self.xs, self.full))
            self.tasks.add(self.task)
            self.task.add_done_callback(self.tasks.discard)
        else:
            self.xs.append(x)
        task, place = self.task, len(self.xs) - 1
        if len(self.xs) == self.max_size:
            self.full.set()
            self.xs = []
        return (await task)[place].clone()

    async def close(self):
        self.closed = True
        if self.full:
            self.full.set()
        await asyncio.gather(*self.tasks, return_exceptions=True)
""",
        check="test_cancelled",
    ),
    Wrong(
        "does not count rows",
        edits=[
            (FIT, "            if not isinstance(rows, Tensor):\n"),
            ("zip(batch, rows, strict=True)", "zip(batch, rows, strict=False)"),
        ],
        check="test_no_rows",
    ),
    Wrong(
        "looks at requests when the batch is stacked",
        edits=[
            (GUARD, "        if False:\n"),
            (
                ROWS,
                "            if any(r.x.shape != self._shape or r.x.dtype != self._dtype for r in batch):\n                raise ValueError('a bad request')\n"
                + ROWS,
            ),
        ],
        check="test_bad_requests",
    ),
    Wrong(
        "close does not wait",
        edits=[(CLOSE, "        self._closed = True\n        self._send()\n")],
        check="test_close",
    ),
    Works(
        "a list, a timer and a future for each",
        code="""
import asyncio

import torch


class MicroBatcher:
    def __init__(self, predict, shape, dtype=torch.float32, *, max_size=32, max_delay=0.005):
        self.predict, self.max_size, self.max_delay = predict, max_size, max_delay
        self.pending, self.timer = [], None

    async def submit(self, x):
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self.pending.append((x, future))
        if len(self.pending) >= self.max_size:
            self.flush()
        elif self.timer is None:
            self.timer = loop.call_later(self.max_delay, self.flush)
        return await future

    def flush(self):
        if self.timer:
            self.timer.cancel()
            self.timer = None
        batch, self.pending = self.pending, []
        self.task = asyncio.create_task(self.run(batch))

    async def run(self, batch):
        try:
            results = await self.predict(torch.stack([x for x, _ in batch]))
            for (_, future), row in zip(batch, results):
                future.set_result(row)
        except Exception as e:
            for _, future in batch:
                future.set_exception(e)

    async def close(self):
        if self.pending:
            self.flush()
            await self.task
""",
    ),
    Works(
        "a queue and one worker",
        code="""
import asyncio

import torch


class MicroBatcher:
    def __init__(self, predict, shape, dtype=torch.float32, *, max_size=32, max_delay=0.005):
        self.predict, self.max_size, self.max_delay = predict, max_size, max_delay
        self.queue, self.worker = None, None

    async def submit(self, x):
        if self.worker is None:
            self.queue = asyncio.Queue()
            self.worker = asyncio.create_task(self._worker())
        future = asyncio.get_running_loop().create_future()
        await self.queue.put((x, future))
        return await future

    async def _worker(self):
        loop = asyncio.get_running_loop()
        while True:
            batch = [await self.queue.get()]
            deadline = loop.time() + self.max_delay
            while len(batch) < self.max_size:
                try:
                    batch.append(await asyncio.wait_for(self.queue.get(), deadline - loop.time()))
                except asyncio.TimeoutError:
                    break
            try:
                out = await self.predict(torch.stack([x for x, _ in batch]))
            except Exception as error:
                for _, future in batch:
                    future.set_exception(error)
                continue
            for i, (_, future) in enumerate(batch):
                future.set_result(out[i])

    async def close(self):
        if self.worker is not None:
            self.worker.cancel()
""",
    ),
    Right(
        "a collector task that waits for an event or the delay",
        code="""
import asyncio
import collections

import torch


class MicroBatcher:
    def __init__(self, predict, shape, dtype=torch.float32, *, max_size=32, max_delay=0.005):
        self.predict, self.like = predict, (torch.Size(shape), dtype)
        self.max_size, self.max_delay = max_size, max_delay
        self.queue = collections.deque()
        self.changed = asyncio.Event()
        self.collector, self.running, self.open = None, [], True

    async def submit(self, x):
        if not self.open:
            raise RuntimeError("closed")
        if (x.shape, x.dtype) != self.like:
            raise ValueError("another shape or dtype")
        loop = asyncio.get_running_loop()
        item = loop.time(), x, loop.create_future()
        self.queue.append(item)
        self.changed.set()
        if self.collector is None:
            self.collector = asyncio.ensure_future(self.collect())
        try:
            return await item[2]
        except asyncio.CancelledError:
            self.queue = collections.deque(other for other in self.queue if other is not item)
            self.changed.set()
            raise

    async def collect(self):
        loop = asyncio.get_running_loop()
        while self.queue:
            pause = self.queue[0][0] + self.max_delay - loop.time()
            if len(self.queue) >= self.max_size or pause <= 1e-9 or not self.open:
                batch = [self.queue.popleft() for _ in range(min(self.max_size, len(self.queue)))]
                self.running.append(asyncio.ensure_future(self.run(batch)))
                continue
            self.changed.clear()
            try:
                await asyncio.wait_for(self.changed.wait(), pause)
            except asyncio.TimeoutError:
                pass
        self.collector = None

    async def run(self, batch):
        batch = [item for item in batch if not item[2].cancelled()]
        error = rows = None
        try:
            rows = await self.predict(torch.stack([x for _, x, _ in batch]))
        except Exception as raised:
            error = raised
        if error is None and not (torch.is_tensor(rows) and rows.dim() and rows.shape[0] == len(batch)):
            error = RuntimeError("rows")
        for i, (_, _, future) in enumerate(batch):
            if future.cancelled():
                continue
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(torch.clone(rows[i]))

    async def close(self):
        self.open = False
        self.changed.set()
        if self.collector is not None:
            await asyncio.wait([self.collector])
        if self.running:
            await asyncio.wait(self.running)
""",
    ),
    Right(
        "call_later, cat and copies into new memory",
        edits=[
            (
                PLAN,
                PLAN.replace(
                    "call_at(self._waiting[0].due, self._send)",
                    "call_later(max(0.0, self._waiting[0].due - asyncio.get_running_loop().time()), self._send)",
                ),
            ),
            (RESULT, RESULT.replace("row.clone()", "torch.empty_like(row).copy_(row)")),
            (
                ROWS,
                ROWS.replace(
                    "torch.stack([request.x for request in batch])",
                    "torch.cat([request.x[None] for request in batch])",
                ),
            ),
        ],
    ),
]
