"""An event loop whose clock jumps: where all wait for a timer, it is the timer's time at once.

    async def main():
        await asyncio.sleep(3600)
        return asyncio.get_running_loop().time()

    run(main(), "main()")       # 3600 s after START, and no time at all

Deadlines, delays and time-outs of asyncio are then exact, however busy the machine is. Threads that
`run_in_executor` and `asyncio.to_thread` start are waited for; the clock stands still meanwhile.
"""

import asyncio
import contextlib
import selectors
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from grader.checks._compat import timers
from grader.checks.failure import CheckFailure

__all__ = ["START", "run"]

T = TypeVar("T")
Events = list[tuple[selectors.SelectorKey, int]]

START = 1000.0
"""What the clock says at first: not 0, which is the default of too much.

Example:
    def test_now(answer):
        expect_equal(run(answer.now(), "now()"), START, "now()")
"""
_TURNS = 20_000
"""How often the loop may turn while its clock stands still."""


class _Selector(selectors.DefaultSelector):
    """Asks its loop before it waits."""

    wait: Callable[[Callable[[float], Events], float | None], Events]

    def select(self, timeout: float | None = None) -> Events:
        return self.wait(super().select, timeout)


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop that never waits for its own timers.

    `until` is a time of its clock. `CheckFailure` comes out of the loop at that time, and as soon as
    nothing can ever happen any more, or callbacks go on for ever while the clock stands still.
    """

    def __init__(self, call: str, until: float) -> None:
        self._now = START
        self._working = 0
        self._turns = 0
        self._call = call
        self._until = until
        selector = _Selector()
        super().__init__(selector)
        selector.wait = self._wait
        # what is lost, such as an exception that nobody asked for, is not for the learner's screen
        self.set_exception_handler(lambda *_: None)

    def time(self) -> float:
        return self._now

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]
        future = super().run_in_executor(executor, func, *args)
        self._working += 1
        future.add_done_callback(self._back)
        return future

    def last_chance(self, seconds: float) -> None:
        """Let tasks that are cancelled take some more time for it."""
        self._until = self._now + seconds
        self._turns = 0

    def timers(self) -> list[asyncio.TimerHandle]:
        """What is still to be called at some time."""
        return timers(self)

    def _back(self, _future: object) -> None:
        self._working -= 1

    def _wait(self, select: Callable[[float], Events], timeout: float | None) -> Events:
        if self._working and timeout != 0:
            return select(0.05)
        ready = select(0)
        if ready or timeout == 0:
            self._turns += 1
            if self._turns > _TURNS:
                raise CheckFailure(
                    f"{self._call} keeps the event loop busy",
                    yours=f"{_TURNS} turns of the loop, and none of them waits for a timer",
                    likely="a loop that awaits what is over at once: `asyncio.sleep(0)`, or ended tasks",
                )
            return ready
        if timeout is None:
            return self._hope(select)
        self._turns = 0
        self._now += timeout
        if self._now > self._until:
            raise CheckFailure(
                f"{self._call} is not done in time",
                yours=f"{self._waiting()} after {self._until - START:g} s of the loop's clock",
            )
        return []

    def _hope(self, select: Callable[[float], Events]) -> Events:
        """No timer is left: only another thread can wake the loop."""
        if threading.active_count() > 1 and (ready := select(1.0)):
            return ready
        raise CheckFailure(
            f"{self._call} never ends",
            yours=f"{self._waiting()}, and nothing is left that could wake one",
            likely="a future without a result, or a task that has ended with an error",
        )

    def _waiting(self) -> str:
        tasks = len(asyncio.all_tasks(self))
        return "1 task waits" if tasks == 1 else f"{tasks} tasks wait"


def run(main: Coroutine[Any, Any, T], call: str, *, seconds: float = 60.0) -> T:
    """Run `main` on a loop with a jumping clock, and return what it returns.

    Tasks that are left over are cancelled, as `asyncio.run` does.

    Args:
        main: a coroutine.
        call: what is run, as a learner would write it.
        seconds: how far the clock may go.

    Raises:
        CheckFailure: nothing can happen any more, the clock has gone too far, or the loop never rests.

    Example:
        def test_half_a_minute(answer):
            async def main():
                await answer.pause(30.0)
                return asyncio.get_running_loop().time() - START

            expect_equal(run(main(), "pause(30.0)"), 30.0, "the seconds that pause(30.0) takes")
    """
    loop = JumpingLoop(call, START + seconds)
    try:
        return loop.run_until_complete(main)
    finally:
        with contextlib.suppress(CheckFailure):  # those who hang now have hung before
            left = asyncio.all_tasks(loop)
            for task in left:
                task.cancel()
            if left:
                loop.last_chance(seconds)
                loop.run_until_complete(loop.create_task(_ended(left)))
        loop.close()


async def _ended(tasks: set[asyncio.Task[Any]]) -> None:
    await asyncio.wait(tasks)
