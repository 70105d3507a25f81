"""The event loop with a jumping clock."""

import asyncio
import threading
import time

import pytest

from grader.checks import CheckFailure
from grader.checks.aio.clock import START, run


def now() -> float:
    return asyncio.get_running_loop().time()


def test_timers_fire_in_order_and_at_once():
    async def main():
        seen = []

        async def wait(seconds):
            await asyncio.sleep(seconds)
            seen.append((seconds, now() - START))

        await asyncio.gather(*(wait(s) for s in (3000.0, 0.25, 70.0)))
        return seen

    before = time.perf_counter()
    assert run(main(), "main()", seconds=1e6) == [(0.25, 0.25), (70.0, 70.0), (3000.0, 3000.0)]
    assert time.perf_counter() - before < 60


def test_a_time_out_is_exact():
    async def main():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.sleep(10), 2.5)
        return now()

    assert run(main(), "main()") == START + 2.5


def test_the_clock_stands_still_while_a_thread_works():
    async def main():
        slow = asyncio.get_running_loop().run_in_executor(None, time.sleep, 0.05)
        timer = asyncio.create_task(asyncio.sleep(1))
        await slow
        early = now()
        await timer
        return early, now()

    assert run(main(), "main()") == (START, START + 1)


def test_another_thread_may_wake_the_loop():
    async def main():
        woken = asyncio.get_running_loop().create_future()
        wake = asyncio.get_running_loop().call_soon_threadsafe
        threading.Timer(0.02, lambda: wake(woken.set_result, 5)).start()
        return await woken

    assert run(main(), "main()") == 5


def test_a_hang_is_told():
    async def main():
        await asyncio.gather(*(asyncio.get_running_loop().create_future() for _ in range(3)))

    with pytest.raises(CheckFailure, match=r"main\(\) never ends\n  yours   1 task waits"):
        run(main(), "main()")


def test_a_hang_beside_a_timer_is_told():
    async def tick():
        while True:
            await asyncio.sleep(1)

    async def main():
        ticking = asyncio.create_task(tick())
        await asyncio.Event().wait()
        ticking.cancel()

    with pytest.raises(CheckFailure, match=r"not done in time\n  yours   2 tasks wait after 30 s"):
        run(main(), "main()", seconds=30)


def test_a_busy_loop_is_told():
    async def main():
        while now() < START + 1:
            await asyncio.sleep(0)

    with pytest.raises(CheckFailure, match="keeps the event loop busy"):
        run(main(), "main()")


def test_errors_come_out_and_tasks_are_cancelled():
    seen = []

    async def left():
        try:
            await asyncio.sleep(10)
        finally:
            seen.append("cancelled")

    async def main():
        asyncio.create_task(left())  # noqa: RUF006
        await asyncio.sleep(1)
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        run(main(), "main()")
    assert seen == ["cancelled"]
