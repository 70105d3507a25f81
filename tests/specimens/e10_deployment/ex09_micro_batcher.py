"""Answers to micro_batcher that people write."""

from grader.authoring.specimen import Right, Wrong

SETTINGS = """        if max_size < 1 or max_delay < 0:
            raise ValueError(f"max_size={max_size} must be 1 or more, max_delay={max_delay} not negative")
"""
CLOSED = """        if self._closed:
            raise RuntimeError("the batcher is closed")
"""
GUARD = "        if x.shape != self._shape or x.dtype != self._dtype:\n"
AWAIT = """        try:
            return await request.result
        except asyncio.CancelledError:  # the next one may be due later
            self._look()
            raise
"""
PRUNE = "        self._waiting = [one for one in self._waiting if not one.result.done()]  # without who has left\n"
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
EMPTIED = "        self._waiting = []\n"
START = """            task = asyncio.get_running_loop().create_task(self._answer(batch))
            self._batches.add(task)
            task.add_done_callback(self._batches.discard)
"""
ROWS = "            rows = await self._predict(torch.stack([request.x for request in batch]))  # (n, ...)\n"
FIT = "            if not isinstance(rows, Tensor) or rows.ndim == 0 or len(rows) != len(batch):\n"
EXCEPT = "        except BaseException as error:\n"
STOPS = """            told = RuntimeError(repr(error)) if isinstance(error, StopIteration) else error
"""
TELL = """            for request in batch:
                if not request.result.done():
                    request.result.set_exception(told)
            if not isinstance(error, Exception):
                raise
"""
RESULT = """                if not request.result.done():
                    request.result.set_result(row.clone())
"""
DUE = "loop.time() + self._max_delay)\n"

SPECIMENS = [
    Wrong(
        "the batches of all batchers in one set",
        edits=[
            ("class MicroBatcher:\n", "_ALL = set()\n\n\nclass MicroBatcher:\n"),
            ("self._batches: set[asyncio.Task[None]] = set()", "self._batches = _ALL"),
        ],
        check="test_two_batchers",
        says="3.25",
    ),
    Wrong(
        "a row of one number is no row any more",
        edits=[(RESULT, RESULT.replace("row.clone()", "row.clone().squeeze()"))],
        check="test_any_shape",
        says="wrong shape from a row",
    ),
    Wrong(
        "a batch of one hands its row on as a view",
        edits=[("set_result(row.clone())", "set_result(row.clone() if len(rows) > 1 else row)")],
        check="test_memory_of_its_own",
        says="of 1",
    ),
    Wrong(
        "open again after a close that was cancelled",
        edits=[
            (
                "            await asyncio.wait(self._batches)\n",
                "            try:\n                await asyncio.wait(self._batches)\n"
                "            except asyncio.CancelledError:\n                self._closed = False\n"
                "                raise\n",
            )
        ],
        check="test_two_that_close",
        says="after a close() was cancelled",
    ),
    Wrong(
        "a copy of the error where one caller waits",
        edits=[
            (
                "request.result.set_exception(told)",
                "request.result.set_exception(told if len(batch) > 1 else type(told)(*told.args))",
            )
        ],
        check="test_errors_reach_their_callers",
        says="caller 15",
    ),
    Wrong(
        "no batches: predict for each",
        edits=[(FULL, "        if self._waiting:\n            self._send()\n            return\n")],
        check="test_hundreds_of_callers",
        says="batch 0",
    ),
    Wrong("one more than max_size", edits=[(FULL, FULL.replace(">=", ">"))], check="test_bursts"),
    Wrong(
        "one less than max_size",
        edits=[(FULL, FULL.replace(">= self._max_size", ">= max(self._max_size - 1, 1)"))],
        check="test_bursts",
    ),
    Wrong("all that wait, however many", edits=[(FULL, "")], check="test_bursts"),
    Wrong(
        "waits for full batches only",
        edits=[(PLAN, "            pass\n")],
        check="test_delay",
        says="never ends",
    ),
    Wrong(
        "the delay begins anew with each request",
        edits=[(PLAN, PLAN.replace("self._waiting[0].due", "self._waiting[-1].due"))],
        check="test_delay",
    ),
    Wrong(
        "the timer of a batch that was full goes on",
        edits=[
            (SEND, "    def _send(self) -> None:\n"),
            (STOP, "            return\n        if len(self._waiting) == 1:\n"),
        ],
        check="test_delay",
    ),
    Wrong(
        "always the default delay",
        edits=[("        self._max_delay = max_delay\n", "        self._max_delay = 0.005\n")],
        check="test_delay",
    ),
    Wrong(
        "always the default size",
        edits=[("        self._max_size = max_size\n", "        self._max_size = 32\n")],
        check="test_bursts",
    ),
    Wrong(
        "other defaults",
        edits=[("max_delay: float = 0.005", "max_delay: float = 0.01")],
        check="test_defaults",
    ),
    Wrong("default of 16", edits=[("max_size: int = 32", "max_size: int = 16")], check="test_defaults"),
    Wrong(
        "takes no delay for the default",
        edits=[("        self._max_delay = max_delay\n", "        self._max_delay = max_delay or 0.005\n")],
        check="test_no_delay",
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
        check="test_delay",
    ),
    Wrong(
        "the last first",
        edits=[(BATCH, BATCH.replace("in self._waiting if", "in self._waiting[::-1] if"))],
        check="test_hundreds_of_callers",
    ),
    Wrong(
        "rows in reverse",
        edits=[("zip(batch, rows, strict=True)", "zip(batch, rows.flip(0), strict=True)")],
        check="test_hundreds_of_callers",
    ),
    Wrong(
        "everybody gets the first row",
        edits=[("set_result(row.clone())", "set_result(rows[0].clone())")],
        check="test_hundreds_of_callers",
    ),
    Wrong(
        "everybody gets all rows",
        edits=[("set_result(row.clone())", "set_result(rows.clone())")],
        check="test_hundreds_of_callers",
    ),
    Wrong(
        "rows keep a batch dimension of 1",
        edits=[("set_result(row.clone())", "set_result(row.clone()[None])")],
        check="test_hundreds_of_callers",
    ),
    Wrong("views of the batch", edits=[("row.clone()", "row")], check="test_memory_of_its_own", says="view"),
    Wrong(
        "contiguous() is no copy",
        edits=[("row.clone()", "row.contiguous()")],
        check="test_memory_of_its_own",
        says="view",
    ),
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
        "who fills a batch runs it, and is cancelled with it",
        edits=[
            (
                FULL,
                FULL.replace(
                    "            return\n",
                    "            self._mine = asyncio.current_task()\n            return\n",
                ),
            ),
            (
                AWAIT,
                AWAIT.replace(
                    "            raise\n",
                    "            for task in self._batches:\n                task.cancel()\n            raise\n",
                ),
            ),
        ],
        check="test_cancelled_in_a_batch",
    ),
    Wrong(
        "callers await the task of their batch",
        code="""
import asyncio

import torch


class MicroBatcher:
    def __init__(self, predict, shape, dtype=torch.float32, *, max_size=32, max_delay=0.005):
        if max_size < 1 or max_delay < 0:
            raise ValueError("settings")
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
        check="test_cancelled_in_a_batch",
    ),
    Wrong(
        "an error goes to the first caller only",
        edits=[(TELL, TELL.replace("for request in batch:", "for request in batch[:1]:"))],
        check="test_errors_reach_their_callers",
    ),
    Wrong(
        "an error is lost with its task",
        edits=[(EXCEPT + STOPS + TELL, "        except ZeroDivisionError:\n            raise\n")],
        check="test_errors_reach_their_callers",
        says="never ends",
    ),
    Wrong(
        "an error of another kind",
        edits=[(TELL, TELL.replace("set_exception(told)", "set_exception(RuntimeError(str(error)))"))],
        check="test_errors_reach_their_callers",
    ),
    Wrong(
        "None in place of an error",
        edits=[(TELL, TELL.replace("set_exception(told)", "set_result(None)"))],
        check="test_errors_reach_their_callers",
    ),
    Wrong(
        "closed by an error",
        edits=[(EXCEPT, EXCEPT + "            self._closed = True\n")],
        check="test_errors_reach_their_callers",
    ),
    Wrong(
        "an error reaches those who wait, too",
        edits=[(TELL, TELL.replace("for request in batch:", "for request in batch + self._waiting:"))],
        check="test_errors_reach_their_callers",
    ),
    Wrong(
        "each alone again, where a batch fails",
        edits=[
            (
                EXCEPT + STOPS + TELL,
                """        except Exception:
            for request in batch:
                try:
                    row = (await self._predict(request.x[None]))[0]
                except Exception as error:
                    if not request.result.done():
                        request.result.set_exception(error)
                else:
                    if not request.result.done():
                        request.result.set_result(row.clone())
""",
            )
        ],
        check="test_errors_reach_their_callers",
    ),
    Wrong(
        "does not count rows",
        edits=[
            (FIT, "            if not isinstance(rows, Tensor):\n"),
            ("zip(batch, rows, strict=True)", "zip(batch, rows, strict=False)"),
        ],
        check="test_rows_that_do_not_fit",
    ),
    Wrong(
        "counts rows after the except",
        edits=[(FIT, "            if not isinstance(rows, Tensor):\n")],
        check="test_rows_that_do_not_fit",
    ),
    Wrong(
        "takes what has a length",
        edits=[(FIT, "            if len(rows) != len(batch):\n")],
        check="test_rows_that_do_not_fit",
    ),
    Wrong(
        "takes too many rows",
        edits=[
            (FIT, FIT.replace("len(rows) != len(batch)", "len(rows) < len(batch)")),
            ("zip(batch, rows, strict=True)", "zip(batch, rows, strict=False)"),
        ],
        check="test_rows_that_do_not_fit",
    ),
    Wrong(
        "calls predict outside of the try",
        edits=[
            (
                "        try:\n" + ROWS,
                "        coming = self._predict(torch.stack([request.x for request in batch]))\n        try:\n            rows = await coming\n",
            )
        ],
        check="test_predict_is_a_plain_function",
        says="never ends",
    ),
    Wrong(
        "the task raises, too",
        edits=[
            (
                "            if not isinstance(error, Exception):\n                raise\n",
                "            raise\n",
            )
        ],
        check="test_errors_reach_nobody_else",
        says="never retrieved",
    ),
    Wrong(
        "one copy for all rows",
        edits=[
            (
                "        else:\n            for request, row in zip(batch, rows, strict=True):\n",
                "        else:\n            for request, row in zip(batch, rows.clone(), strict=True):\n",
            ),
            (RESULT, RESULT.replace("row.clone()", "row")),
        ],
        check="test_memory_of_its_own",
        says="one another",
    ),
    Wrong(
        "a batch of one is the request itself",
        edits=[
            (
                ROWS,
                ROWS.replace(
                    "torch.stack([request.x for request in batch])",
                    "torch.stack([request.x for request in batch]) if len(batch) > 1 else batch[0].x.unsqueeze(0)",
                ),
            )
        ],
        check="test_memory_of_its_own",
        says="in place",
    ),
    Wrong(
        "a close that is cancelled cancels predict",
        edits=[
            (
                CLOSE,
                "        self._closed = True\n        self._send()\n        await asyncio.gather(*self._batches, return_exceptions=True)\n",
            )
        ],
        check="test_two_that_close",
    ),
    Wrong(
        "a second close returns at once",
        edits=[(CLOSE, "        if self._closed:\n            return\n" + CLOSE)],
        check="test_two_that_close",
    ),
    Wrong(
        "Exception does not catch a cancelled predict",
        edits=[(EXCEPT, "        except Exception as error:\n")],
        check="test_predict_is_cancelled",
        says="never ends",
    ),
    Wrong(
        "sends what is cancelled",
        edits=[
            (AWAIT, "        return await request.result\n"),
            (BATCH, "        batch = list(self._waiting)\n"),
        ],
        check="test_cancelled_while_waiting",
    ),
    Wrong(
        "counts what is cancelled",
        edits=[(AWAIT, "        return await request.result\n"), (PRUNE, "")],
        check="test_cancelled_while_waiting",
    ),
    Wrong(
        "counts what is cancelled until its caller has had a turn",
        edits=[
            (
                AWAIT,
                AWAIT.replace(
                    "            self._look()\n",
                    "            self._waiting = [one for one in self._waiting if one is not request]\n            self._look()\n",
                ),
            ),
            (PRUNE, ""),
        ],
        check="test_cancelled_in_the_same_turn",
    ),
    Wrong(
        "close sends who is cancelled in the very turn",
        edits=[
            (
                "        batch = [request for request in self._waiting if not request.result.done()]\n",
                "        batch = self._waiting\n",
            )
        ],
        check="test_cancelled_in_the_same_turn",
        says="just before close()",
    ),
    Wrong(
        "the timer of a cancelled request goes on",
        edits=[
            (AWAIT, AWAIT.replace("            self._look()\n", "")),
            (STOP, "            return\n        if self._timer is None:\n"),
        ],
        check="test_cancelled_while_waiting",
    ),
    Wrong(
        "empty batches, where all are cancelled",
        edits=[
            (AWAIT, AWAIT.replace("            self._look()\n", "")),
            ("        if batch:\n            task", "        if True:\n            task"),
            (
                ROWS,
                ROWS.replace(
                    "torch.stack([request.x for request in batch])",
                    "torch.stack([request.x for request in batch]) if batch else torch.zeros(0, *self._shape)",
                ),
            ),
        ],
        check="test_cancelled_while_waiting",
    ),
    Wrong(
        "sets results of callers that are gone",
        edits=[(RESULT, "                request.result.set_result(row.clone())\n")],
        check="test_cancelled_in_a_batch",
    ),
    Wrong(
        "sets errors of callers that are gone",
        edits=[
            (TELL, "            for request in batch:\n                request.result.set_exception(told)\n")
        ],
        check="test_cancelled_in_a_batch",
    ),
    Wrong(
        "shields the caller: it is not cancelled",
        edits=[
            (
                AWAIT,
                "        while True:\n            try:\n                return await asyncio.shield(request.result)\n            except asyncio.CancelledError:\n                if request.result.cancelled():\n                    raise\n",
            )
        ],
        check="test_cancelled_in_a_batch",
    ),
    Wrong(
        "a caller that is cancelled gets None",
        edits=[
            (
                AWAIT,
                AWAIT.replace("            raise\n", "            return None\n"),
            )
        ],
        check="test_cancelled_in_a_batch",
    ),
    Wrong(
        "takes any shape", edits=[(GUARD, "        if x.dtype != self._dtype:\n")], check="test_bad_requests"
    ),
    Wrong(
        "takes any dtype", edits=[(GUARD, "        if x.shape != self._shape:\n")], check="test_bad_requests"
    ),
    Wrong(
        "casts requests",
        edits=[(GUARD, "        x = x.to(self._dtype)\n        if x.shape != self._shape:\n")],
        check="test_bad_requests",
    ),
    Wrong(
        "takes what has as many numbers",
        edits=[
            (GUARD, GUARD.replace("x.shape != self._shape", "x.numel() != torch.Size(self._shape).numel()")),
            (ROWS, ROWS.replace("request.x for", "request.x.reshape(self._shape) for")),
        ],
        check="test_bad_requests",
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
        "float32 only",
        edits=[("        self._dtype = dtype\n", "        self._dtype = torch.float32\n")],
        check="test_any_shape",
    ),
    Wrong(
        "the shape is compared as it is given",
        edits=[("        self._shape = tuple(shape)\n", "        self._shape = shape\n")],
        check="test_any_shape",
    ),
    Wrong(
        "flattens requests",
        edits=[(ROWS, ROWS.replace("[request.x for", "[request.x.flatten() for"))],
        check="test_any_shape",
    ),
    Wrong(
        "close does not wait",
        edits=[(CLOSE, "        self._closed = True\n        self._send()\n")],
        check="test_close",
        says="before predict is done",
    ),
    Wrong(
        "close drops what waits",
        edits=[
            (
                CLOSE,
                CLOSE.replace(
                    "        self._send()\n",
                    "        for request in self._waiting:\n            request.result.cancel()\n",
                ),
            )
        ],
        check="test_close",
    ),
    Wrong(
        "close waits for the delay",
        edits=[
            (
                CLOSE,
                CLOSE.replace(
                    "        self._send()\n",
                    "        await asyncio.sleep(self._max_delay)\n        self._send()\n",
                ),
            )
        ],
        check="test_close",
    ),
    Wrong(
        "close cancels predict",
        edits=[
            (
                CLOSE,
                CLOSE.replace(
                    "        while",
                    "        for task in self._batches:\n            task.cancel()\n        while",
                ),
            )
        ],
        check="test_close",
    ),
    Wrong(
        "close raises what predict raised",
        edits=[
            (
                CLOSE,
                CLOSE.replace(
                    "        while self._batches:\n            await asyncio.wait(self._batches)\n",
                    "        await asyncio.gather(*self._batches)\n",
                ),
            ),
            (TELL, TELL + "            raise\n"),
        ],
        check="test_close",
    ),
    Wrong("open after close", edits=[(CLOSED, "")], check="test_close"),
    Wrong(
        "closed when close returns",
        edits=[(CLOSE, CLOSE.replace("        self._closed = True\n", "") + "        self._closed = True\n")],
        check="test_close",
    ),
    Wrong("close only once", edits=[(CLOSE, CLOSED + CLOSE)], check="test_close"),
    Wrong(
        "a ValueError after close",
        edits=[(CLOSED, CLOSED.replace("RuntimeError", "ValueError"))],
        check="test_close",
    ),
    Wrong(
        "a worker that stays after close",
        edits=[
            (
                "        loop = asyncio.get_running_loop()\n        request",
                "        loop = asyncio.get_running_loop()\n        if not hasattr(self, '_worker'):\n            self._worker = loop.create_task(asyncio.Event().wait())\n        request",
            ),
        ],
        check="test_close",
        says="task is left",
    ),
    Wrong(
        "close waits for a worker that was never started",
        edits=[
            (CLOSE, CLOSE + "        await self._started.wait()\n"),
            (
                "        self._closed = False\n",
                "        self._closed = False\n        self._started = asyncio.Event()\n",
            ),
            (EMPTIED, EMPTIED + "        if batch:\n            self._started.set()\n"),
        ],
        check="test_close_without_work",
        says="never ends",
    ),
    Wrong(
        "polls",
        edits=[
            (
                PLAN,
                """            if not hasattr(self, "_polling"):
                self._polling = asyncio.get_running_loop().call_later(self._max_delay / 50, self._poll)
""",
            ),
            (
                "    def _send(self) -> None:\n",
                """    def _poll(self):
        loop = asyncio.get_running_loop()
        if self._waiting and loop.time() >= self._waiting[0].due:
            self._send()
        if not (self._closed and not self._waiting):
            self._polling = loop.call_later(max(self._max_delay / 50, 1e-4), self._poll)

    def _send(self) -> None:
""",
            ),
        ],
        check="test_nothing_runs_while_idle",
    ),
    Wrong(
        "polls by sleep(0)",
        edits=[
            (
                PLAN,
                """            if not getattr(self, "_polling", None):
                self._polling = asyncio.get_running_loop().create_task(self._poll())
""",
            ),
            (
                "    def _send(self) -> None:\n",
                """    async def _poll(self):
        loop = asyncio.get_running_loop()
        while self._waiting and loop.time() < self._waiting[0].due:
            await asyncio.sleep(0)
        self._polling = None
        self._send()

    def _send(self) -> None:
""",
            ),
        ],
        check="test_delay",
        says="busy",
    ),
    Wrong(
        "one queue for all batchers",
        edits=[
            ("    def __init__(\n", "    _waiting: list[_Request] = []\n\n    def __init__(\n"),
            ("        self._waiting: list[_Request] = []\n", ""),
            (EMPTIED, "        type(self)._waiting = []\n"),
        ],
        check="test_two_batchers",
    ),
    Wrong(
        "a task when it is built",
        edits=[
            (
                "        self._closed = False\n",
                "        self._closed = False\n        self._first = asyncio.get_running_loop()\n",
            )
        ],
        check="test_two_batchers",
    ),
    Wrong(
        "any size", edits=[(SETTINGS, SETTINGS.replace("max_size < 1 or ", ""))], check="test_bad_settings"
    ),
    Wrong(
        "any delay", edits=[(SETTINGS, SETTINGS.replace(" or max_delay < 0", ""))], check="test_bad_settings"
    ),
    Wrong(
        "an error is told to callers of the batch that is collected since",
        edits=[
            (
                TELL,
                "            for request in self._waiting or batch:\n                if not request.result.done():\n                    request.result.set_exception(error)\n",
            )
        ],
        check="test_storm",
    ),
    Wrong(
        "wait_for by hand, which cancels the others",
        edits=[
            (
                AWAIT,
                AWAIT.replace(
                    "            self._look()\n",
                    "            for other in self._waiting:\n                other.result.cancel()\n            self._look()\n",
                ),
            )
        ],
        check="test_time_outs",
    ),
    Right(
        "a collector task that waits for an event or the delay",
        code="""
import asyncio
import collections

import torch


class MicroBatcher:
    def __init__(self, predict, shape, dtype=torch.float32, *, max_size=32, max_delay=0.005):
        if max_size <= 0:
            raise ValueError("max_size")
        if max_delay < 0.0:
            raise ValueError("max_delay")
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
        except asyncio.CancelledError:
            error = RuntimeError("predict was cancelled")
        except Exception as raised:
            error = RuntimeError("no StopIteration") if isinstance(raised, StopIteration) else raised
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
    Wrong(
        "requests in a dict by their tensors, which two callers may share",
        edits=[
            (
                "        batch = [request for request in self._waiting if not request.result.done()]\n",
                "        batch = list({id(one.x): one for one in self._waiting if not one.result.done()}.values())\n",
            )
        ],
        check="test_any_shape",
        says="never ends",
    ),
    Wrong(
        "gives each caller a row of a copy of the whole batch",
        edits=[
            ("for request, row in zip(batch, rows, strict=True):", "for place, request in enumerate(batch):"),
            (RESULT, RESULT.replace("row.clone()", "rows.clone()[place]")),
        ],
        check="test_memory_of_its_own",
        says="24 bytes",
    ),
    Wrong(
        "raises an error that no caller is left to hear in a task that nobody looks at",
        edits=[
            (
                TELL,
                TELL
                + "            if all(request.result.cancelled() for request in batch):\n                raise\n",
            )
        ],
        check="test_errors_reach_nobody_else",
        says="complains",
    ),
    Wrong(
        "rows in the dtype of the requests",
        edits=[(RESULT, RESULT.replace("row.clone()", "row.to(self._dtype, copy=True)"))],
        check="test_any_shape",
        says="wrong dtype",
    ),
    Wrong(
        "close waits for what it has sent, and not for what was under way",
        edits=[
            (
                CLOSE,
                CLOSE.replace(
                    "        self._send()\n", "        self._batches = set()\n        self._send()\n"
                ),
            ),
        ],
        check="test_close",
        says="where nobody waits",
    ),
    Wrong(
        "closes when all callers have heard, and forgets a batch whose callers have all left",
        edits=[
            (BATCH, BATCH + "        self._sent = [*getattr(self, '_sent', []), *batch]\n"),
            (
                CLOSE,
                """        self._closed = True
        self._send()
        sent = getattr(self, "_sent", [])
        while waited := [request.result for request in sent if not request.result.done()]:
            await asyncio.wait(waited)
        await asyncio.sleep(0)
""",
            ),
        ],
        check="test_close",
        says="were cancelled",
    ),
    Wrong(
        "tries again where the connection breaks",
        edits=[
            (
                "            rows = await self._predict(torch.stack([request.x for request in batch]))  # (n, ...)\n",
                """            try:
                rows = await self._predict(torch.stack([request.x for request in batch]))  # (n, ...)
            except ConnectionError:
                rows = await self._predict(torch.stack([request.x for request in batch]))
""",
            )
        ],
        check="test_errors_reach_their_callers",
    ),
    Wrong(
        "catches less where predict is called than where it is awaited",
        edits=[
            (
                "            task = asyncio.get_running_loop().create_task(self._answer(batch))\n",
                """            try:
                pending = self._predict(torch.stack([request.x for request in batch]))
            except Exception as error:
                for request in batch:
                    stop = isinstance(error, StopIteration)
                    request.result.set_exception(RuntimeError(repr(error)) if stop else error)
                return
            task = asyncio.get_running_loop().create_task(self._answer(batch, pending))
""",
            ),
            ("_answer(self, batch: list[_Request])", "_answer(self, batch: list[_Request], pending)"),
            ("await self._predict(torch.stack([request.x for request in batch]))", "await pending"),
        ],
        check="test_predict_is_cancelled",
        says="never ends",
    ),
]
