"""What grades micro_batcher: who gets what and when, errors, cancellation, closing; on a clock that jumps."""

import asyncio
import gc
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
import torch

from grader.checks import (
    CheckFailure,
    expect_close,
    expect_equal,
    expect_raises,
    expect_that,
    shares_storage,
    unchanged,
)
from grader.checks.aio.clock import START, run

DELAY = 2.0


def now():
    """The loop's time since the start, rounded: a sum of floats is as good as another one."""
    return round(asyncio.get_running_loop().time() - START, 6)


def request(number):
    return torch.tensor([float(number), -1.0])


@dataclass
class Model:
    """Takes `seconds` for a batch, and answers (number, size of the batch, -1 · number); notes what it sees.

    A request whose number is in `bad` breaks its batch.
    """

    seconds: float = 0.0
    bad: dict = field(default_factory=dict)
    batches: list = field(default_factory=list)
    done: list = field(default_factory=list)

    async def __call__(self, batch):
        numbers = [int(n) for n in batch[:, 0]]
        place = len(self.batches)
        self.batches.append((now(), numbers))
        expect_equal(
            (tuple(batch.shape), batch.dtype), ((len(numbers), 2), torch.float32), "the batch of predict"
        )
        try:
            if self.seconds:
                await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.done.append((place, "cancelled"))
            raise
        self.done.append((place, "done"))
        for number in numbers:
            if number in self.bad:
                raise self.bad[number]
        size = torch.full((len(numbers),), float(len(numbers)))
        return torch.stack([batch[:, 0], size, batch.prod(1)], 1)


def expected(events, max_size, delay):
    """The batches that come of events (time, number) and (time, number, "cancel"), as (time, numbers)."""
    batches, waiting = [], []

    def send(time):
        batches.append((round(time, 6), [number for _, number in waiting]))
        waiting.clear()

    for time, number, *cancel in sorted(events, key=lambda event: event[0]):
        if waiting and waiting[0][0] + delay <= time:
            send(waiting[0][0] + delay)
        if cancel:
            waiting[:] = [one for one in waiting if one[1] != number]
            continue
        waiting.append((time, number))
        if len(waiting) == max_size:
            send(time)
    if waiting:
        send(waiting[0][0] + delay)
    return batches


def play(answer, model, events, call, *, max_size=3, delay=DELAY, close=True):
    """Submit and cancel at the times of `events`; what became of each request, by its number.

    An outcome is (row or error, time).
    """

    async def main():
        batcher = answer.MicroBatcher(model, (2,), max_size=max_size, max_delay=delay)
        outcomes, callers = {}, {}

        async def caller(number):
            try:
                row = await batcher.submit(request(number))
                outcomes[number] = (row.tolist(), now())
            except asyncio.CancelledError:
                outcomes[number] = ("cancelled", now())
                raise
            except Exception as error:
                outcomes[number] = (error, now())

        for time, number, *cancel in sorted(events, key=lambda event: event[0]):
            if time > now():
                await asyncio.sleep(START + time - asyncio.get_running_loop().time())
            if cancel:
                callers[number].cancel()
            else:
                callers[number] = asyncio.create_task(caller(number))
        await asyncio.wait(callers.values())
        if close:
            await batcher.close()
        return outcomes

    return run(main(), call)


def expect_batches(model, wanted, call):
    if model.batches != wanted:
        pairs = zip(model.batches, wanted, strict=False)
        place = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(model.batches), len(wanted)))

        def told(batches):
            if place >= len(batches):
                return f"no batch {place}: there are {len(batches)}"
            time, numbers = batches[place]
            named = ", ".join(map(str, numbers[:8])) + (", …" if len(numbers) > 8 else "")
            return f"{len(numbers)} requests ({named}) after {time:g} s"

        raise CheckFailure(
            f"wrong batch {place} of {call}\n  yours   {told(model.batches)}\n  wanted  {told(wanted)}"
        )


def expect_rows(model, outcomes, call):
    """Fail unless each caller got the row of its number, as soon as its batch was done."""
    for time, numbers in model.batches:
        for number in numbers:
            if outcomes[number][0] == "cancelled":
                continue
            wanted = ([float(number), float(len(numbers)), -float(number)], round(time + model.seconds, 6))
            expect_equal(outcomes[number], wanted, f"(row, time) of caller {number} of {call}")


def arrivals(gen, count, mean):
    """Times on a grid of 1 ms, all different; delays that end on half a millisecond never meet them."""
    steps = -mean * torch.rand(count, generator=gen, dtype=torch.float64).log()
    times = torch.cumsum(steps.mul(1000).round().clamp(min=1), 0) / 1000
    return [(round(time, 3), i) for i, time in enumerate(times.tolist())]


@pytest.mark.parametrize("max_size", [1, 7, 32])
def test_hundreds_of_callers(answer, gen, max_size):
    """Each of 400 callers gets its own row, and every batch goes when it is due."""
    for seconds in (0.0, 0.7):
        model = Model(seconds)
        events = arrivals(gen, 400, 0.02)
        call = f"400 callers, max_size={max_size}, max_delay=0.1505"
        outcomes = play(answer, model, events, call, max_size=max_size, delay=0.1505)
        expect_batches(model, expected(events, max_size, 0.1505), call)
        expect_rows(model, outcomes, call)


def test_bursts(answer):
    """Callers who come at once go in full batches at once; the rest waits for the delay."""
    for count, max_size in [(10, 4), (8, 4), (3, 4), (1, 4), (500, 64), (5, 1)]:
        model = Model(seconds=0.5)
        events = [(0.0, i) for i in range(count)]
        call = f"{count} callers at once, max_size={max_size}"
        outcomes = play(answer, model, events, call, max_size=max_size)
        expect_batches(model, expected(events, max_size, DELAY), call)
        expect_rows(model, outcomes, call)


def test_delay(answer):
    """Each batch has the delay of its own first request, also after batches that were full."""
    for delay in (2.0, 0.25, 5.0):
        model = Model()
        times = [0.0, 1.5, 2.5, 2.6, 2.7, 3.0, 3.1, 3.2, 3.3, 9.5, 11.0, 20.0, 20.1, 20.2, 21.0, 27.0]
        events = [(time, i) for i, time in enumerate(times)]
        outcomes = play(answer, model, events, f"16 callers, max_size=3, max_delay={delay}", delay=delay)
        expect_batches(model, expected(events, 3, delay), f"16 callers, max_size=3, max_delay={delay}")
        expect_rows(model, outcomes, "16 callers")


def test_defaults(answer):
    """Without another word 32 requests make a batch, and none waits longer than 5 ms."""
    model = Model()

    async def main():
        batcher = answer.MicroBatcher(model, (2,))
        await asyncio.gather(*(batcher.submit(request(i)) for i in range(40)))
        await batcher.close()

    run(main(), "40 callers at once, with the default settings")
    expect_batches(model, [(0.0, [*range(32)]), (0.005, [*range(32, 40)])], "40 callers, default settings")


def test_no_delay(answer):
    """With max_delay=0 nobody waits, and all get their rows."""
    model = Model(seconds=1.0)
    outcomes = play(answer, model, [(0.0, 0), (0.5, 1), (3.0, 2)], "3 callers, max_delay=0", delay=0)
    expect_batches(model, [(0.0, [0]), (0.5, [1]), (3.0, [2])], "3 callers, max_delay=0")
    expect_rows(model, outcomes, "3 callers, max_delay=0")


def test_batches_do_not_wait(answer):
    """A batch goes when it is due, also while predict is busy with others."""
    model = Model(seconds=30.0)
    events = [(0.1 * i, i) for i in range(11)]
    outcomes = play(answer, model, events, "11 callers, predict takes 30 s")
    expect_batches(model, expected(events, 3, DELAY), "11 callers, predict takes 30 s")
    expect_rows(model, outcomes, "11 callers, predict takes 30 s")

    class Later(Model):
        async def __call__(self, batch):
            self.seconds = 8.0 - 3.0 * len(self.batches)
            return await super().__call__(batch)

    model = Later()
    outcomes = play(answer, model, [(0.1 * i, i) for i in range(6)], "a second batch that is done first")
    times = {number: time for number, (_, time) in outcomes.items()}
    expect_equal(times, {0: 8.2, 1: 8.2, 2: 8.2, 3: 5.5, 4: 5.5, 5: 5.5}, "when the callers get their rows")


def test_errors_reach_their_callers(answer):
    """An error of predict reaches all callers of its batch and nobody else, and the batcher goes on."""
    errors = {4: KeyError("token 4"), 10: ZeroDivisionError("no"), 12: asyncio.TimeoutError("slow")}
    errors[15] = ConnectionError("alone")  # in a batch of one
    for seconds in (0.0, 1.25):
        model = Model(seconds, errors)
        events = [(0.2 * i, i) for i in range(16)]
        call = "16 callers, where predict raises for 4 batches"
        outcomes = play(answer, model, events, call)
        expect_batches(model, expected(events, 3, DELAY), call)
        for time, numbers in model.batches:
            raised = next((errors[number] for number in numbers if number in errors), None)
            for number in numbers:
                yours, when = outcomes[number]
                if raised is None:
                    wanted = [float(number), float(len(numbers)), -float(number)]
                    expect_equal(yours, wanted, f"the row of caller {number}, beside batches that fail")
                else:
                    expect_that(
                        yours is raised,
                        f"caller {number} of a batch that fails does not get the very error of predict",
                        yours=f"another error like it: {yours!r}" if repr(yours) == repr(raised) else yours,
                        wanted=raised,
                    )
                expect_equal(when, round(time + seconds, 6), f"when caller {number} hears of it")


def test_rows_that_do_not_fit(answer):
    """Where predict does not return a row for each request, its callers get RuntimeError, and none hangs."""
    replies = [
        lambda batch: batch[:-1], lambda batch: torch.cat([batch, batch]), lambda batch: batch[:0],
        lambda batch: batch.sum(), lambda batch: None, lambda batch: batch.tolist(), lambda batch: batch[:1],
    ]  # fmt: skip

    async def main():
        calls = []

        async def predict(batch):
            calls.append(len(batch))
            return replies[len(calls) - 1](batch) if len(calls) <= len(replies) else batch + 1

        batcher = answer.MicroBatcher(predict, (2,), max_size=3, max_delay=DELAY)
        found = []
        for _ in range(len(replies) + 1):
            callers = [batcher.submit(request(i)) for i in range(3)]
            found.append(await asyncio.gather(*callers, return_exceptions=True))
        await batcher.close()
        return found

    *broken, right = run(main(), "submit, where predict returns other than 3 rows")
    what = ["2 rows", "6 rows", "no rows", "a single number", "None", "a list", "1 row"]
    for yours, name in zip(broken, what, strict=True):
        for result in yours:
            expect_that(
                isinstance(result, RuntimeError),
                f"wrong result of a caller, where predict returns {name} for 3 requests",
                yours=result if not isinstance(result, Exception) else f"{type(result).__name__}: {result}",
                wanted="RuntimeError",
            )
    for i, row in enumerate(right):
        expect_equal(row, request(i) + 1, "a row after batches that failed")


@pytest.mark.parametrize("plain", [False, True], ids=["awaited", "called"])
def test_predict_is_cancelled(answer, plain):
    """Where predict ends by a CancelledError of its own, its callers do not wait for ever."""

    async def main():
        calls = []

        def function(batch):
            calls.append(len(batch))
            if len(calls) == 1:
                raise asyncio.CancelledError
            return asyncio.sleep(0.0, batch)

        async def coroutine(batch):
            return await function(batch)

        predict = function if plain else coroutine
        batcher = answer.MicroBatcher(predict, (2,), max_size=2, max_delay=DELAY)
        first = await asyncio.gather(*(batcher.submit(request(i)) for i in range(2)), return_exceptions=True)
        second = await asyncio.gather(*(batcher.submit(request(i)) for i in range(2)))
        await batcher.close()
        return first, second

    first, second = run(main(), "submit, where predict raises CancelledError")
    for yours in first:
        expect_that(isinstance(yours, BaseException), "a caller gets a result of no batch", yours=yours)
    for i, yours in enumerate(second):
        expect_equal(yours, request(i), "a row of the batch after that")


def test_predict_is_a_plain_function(answer):
    """An error of a predict that is no coroutine function reaches its callers, whatever error it is."""
    for error in (ValueError("now"), StopIteration(), KeyError("now")):

        async def main(error=error):
            calls = []

            def predict(batch):
                calls.append(len(batch))
                if len(calls) == 1:
                    raise error
                return asyncio.sleep(0.5, batch + 1)

            batcher = answer.MicroBatcher(predict, (2,), max_size=2, max_delay=DELAY)
            callers = [batcher.submit(request(i)) for i in range(2)]
            first = await asyncio.gather(*callers, return_exceptions=True)
            second = await asyncio.gather(*(batcher.submit(request(i)) for i in range(2)))
            await batcher.close()
            return first, second

        call = f"submit, where predict is no coroutine function and raises {type(error).__name__}"
        first, second = run(main(), call)
        for yours in first:
            right = isinstance(yours, RuntimeError) if isinstance(error, StopIteration) else yours is error
            expect_that(right, f"wrong result of a caller of {call}", yours=repr(yours))
        for i, yours in enumerate(second):
            expect_equal(yours, request(i) + 1, "a row of the batch after that")


def test_errors_reach_nobody_else(answer):
    """An error of predict is not raised anywhere else: the loop has nothing to complain of."""

    async def main():
        lost = []
        asyncio.get_running_loop().set_exception_handler(lambda _, about: lost.append(about["message"]))
        model = Model(1.0, {1: KeyError("1"), 4: KeyError("4")})
        batcher = answer.MicroBatcher(model, (2,), max_size=2, max_delay=DELAY)
        callers = [asyncio.create_task(batcher.submit(request(i))) for i in range(6)]
        await asyncio.sleep(0.5)
        for i in (0, 3, 4, 5):  # nobody is left to hear of the last batch's error
            callers[i].cancel()
        found = await asyncio.gather(*callers, return_exceptions=True)
        await batcher.close()
        del batcher
        callers.clear()
        await asyncio.sleep(1.0)
        gc.collect(1)  # not of all that the process has imported
        await asyncio.sleep(1.0)
        return lost, [type(one).__name__ for one in found]

    lost, found = run(main(), "submit, where predict raises")
    gone = "CancelledError"
    expect_equal(found, [gone, "KeyError", "Tensor", gone, gone, gone], "what the callers got")
    expect_that(not lost, "the event loop complains, where predict has raised", yours=", ".join(lost))


def test_bad_requests(answer):
    """A request of another shape or dtype raises ValueError at once, and disturbs nobody."""
    bad = [
        torch.ones(3), torch.ones(1), torch.ones(()), torch.ones(1, 2), torch.ones(0),
        torch.ones(2, dtype=torch.int64),
        torch.ones(2, dtype=torch.float64), torch.ones(2, dtype=torch.float16),
    ]  # fmt: skip

    async def main():
        model = Model()
        batcher = answer.MicroBatcher(model, (2,), max_size=3, max_delay=DELAY)
        found = []
        for x in bad:
            try:
                found.append(await batcher.submit(x))
            except Exception as error:
                found.append(error)
        early = now()
        good = [asyncio.create_task(batcher.submit(request(i))) for i in range(2)]
        await asyncio.sleep(1.0)
        mixed = await asyncio.gather(*map(batcher.submit, bad), return_exceptions=True)
        rows = await asyncio.gather(*good)
        await batcher.close()
        return model, found, early, mixed, rows

    model, found, early, mixed, rows = run(main(), "submit, with requests of wrong shapes and dtypes")
    for x, *errors in zip(bad, found, mixed, strict=True):
        for error in errors:
            expect_that(
                isinstance(error, ValueError),
                f"wrong result of submit(x) for x of {x.dtype} {tuple(x.shape)}",
                yours=error if not isinstance(error, Exception) else f"{type(error).__name__}: {error}",
                wanted="ValueError",
            )
    expect_equal(early, 0.0, "when bad requests hear of it")
    expect_batches(model, [(DELAY, [0, 1])], "2 requests, with bad ones between")
    expect_equal(
        [row.tolist() for row in rows], [[0.0, 2.0, 0.0], [1.0, 2.0, -1.0]], "the rows of the others"
    )


def test_any_shape(answer, gen):
    """Requests may have any shape and dtype, also () and int64, and stay as they are."""
    for shape, dtype in [
        ((), torch.float32),
        ((3,), torch.int64),
        ((2, 1, 4), torch.float64),
        ((0,), torch.bool),
    ]:
        xs = [(10 * torch.randn(shape, generator=gen)).to(dtype) for _ in range(4)]
        xs.append(xs[1])  # two callers with one tensor
        seen = []

        async def predict(batch, seen=seen):
            seen.append(batch)
            return batch.flatten(1).sum(1, keepdim=True) if batch.ndim > 1 else batch * 2

        async def main(shape=shape, dtype=dtype, xs=xs, predict=predict):
            batcher = answer.MicroBatcher(predict, list(shape), dtype, max_size=5, max_delay=DELAY)
            rows = await asyncio.gather(*map(batcher.submit, xs))
            await batcher.close()
            return rows

        with unchanged("submit(x)", **{f"x{i}": x for i, x in enumerate(xs)}):
            wanted = [x.sum().reshape(1) if shape else x * 2 for x in xs]
            rows = run(main(), f"MicroBatcher(predict, {shape}, {dtype})")
        expect_equal(seen, [torch.stack(xs)], f"what predict sees of requests of {dtype} {shape}")
        for row, right in zip(rows, wanted, strict=True):
            expect_close(row, right, f"a row for requests of {dtype} {shape}")


def test_memory_of_its_own(answer):
    """A row shares no memory with the batch or with other rows."""

    async def main(count):
        kept = []

        async def predict(batch):
            kept.append(batch.expand(len(batch), 2).contiguous())
            return kept[-1]

        batcher = answer.MicroBatcher(predict, (2,), max_size=3, max_delay=DELAY)
        rows = await asyncio.gather(*(batcher.submit(request(i)) for i in range(count)))
        await batcher.close()
        return kept[0], rows

    for count in (1, 3):
        result, rows = run(main(count), "submit(x)")
        for i, row in enumerate(rows):
            expect_equal(row, request(i), f"row {i}")
            expect_that(
                not shares_storage(row, result),
                f"submit returns a view of the whole batch, of {count}",
                yours="keeps the memory of all rows alive, and writing to it writes there",
                wanted="memory of its own",
            )
    for one, other in pairwise(rows):
        expect_that(not shares_storage(one, other), "the rows of a batch share memory with one another")
    held = max(row.untyped_storage().nbytes() for row in rows)
    expect_that(
        held < result.nbytes,
        "each row that submit returns has memory for the whole batch",
        yours=f"{held} bytes",
        wanted=f"{rows[0].nbytes} bytes",
    )

    async def in_place():
        async def predict(batch):
            return batch.mul_(10.0)

        batcher = answer.MicroBatcher(predict, (2,), max_size=2, max_delay=DELAY)
        xs = [request(i + 1) for i in range(3)]
        rows = await asyncio.gather(*map(batcher.submit, xs))
        await batcher.close()
        return xs, rows

    xs, rows = run(in_place(), "submit(x)")
    for i, (x, row) in enumerate(zip(xs, rows, strict=True)):
        expect_equal(row, 10 * request(i + 1), f"row {i} of a predict that works in place")
        expect_equal(x, request(i + 1), f"request {i} after a predict that works in place")


def test_cancelled_while_waiting(answer):
    """A caller that is cancelled while it waits is not sent, and no longer counts for size or delay."""
    cases = {
        "the second of two": [(0.0, 0), (0.5, 1), (1.0, 1, "cancel")],
        "the first of two, whose delay goes with it": [(0.0, 0), (0.5, 1), (1.0, 0, "cancel")],
        "two, before three more come": [
            (0.0, 0), (0.1, 1), (0.5, 0, "cancel"), (0.6, 1, "cancel"), (0.7, 2), (0.8, 3), (1.5, 4),
        ],
        "one, so that a third makes no full batch": [(0.0, 0), (0.1, 1), (0.5, 1, "cancel"), (0.6, 2)],
        "all": [(0.0, 0), (0.1, 1), (0.5, 1, "cancel"), (0.6, 0, "cancel"), (5.0, 5)],
        "all, before another one starts a delay of its own": [(0.0, 0), (0.5, 0, "cancel"), (1.0, 1)],
        "the middle one of three": [(0.0, 0), (0.3, 1), (0.6, 1, "cancel"), (0.7, 2), (5.0, 3)],
        "the first of a second batch": [
            (0.0, 0), (0.3, 1), (0.6, 2), (0.7, 3), (0.9, 4), (1.1, 3, "cancel"), (1.2, 5),
        ],
    }  # fmt: skip
    for about, events in cases.items():
        for seconds in (0.0, 1.0):
            model, call = Model(seconds), f"submit, with cancelled callers: {about}"
            outcomes = play(answer, model, events, call)
            expect_batches(model, expected(events, 3, DELAY), call)
            expect_rows(model, outcomes, call)


def test_cancelled_in_the_same_turn(answer):
    """A caller does not count from the moment of cancel(), whoever has the next turn of the event loop."""

    async def main():
        model = Model()
        batcher = answer.MicroBatcher(model, (2,), max_size=3, max_delay=DELAY)
        callers = [asyncio.create_task(batcher.submit(request(i))) for i in range(2)]
        await asyncio.sleep(0.5)
        callers.append(asyncio.create_task(batcher.submit(request(2))))  # comes when 1 has just left
        callers[1].cancel()
        await asyncio.gather(*callers, return_exceptions=True)
        await batcher.close()
        return model

    model = run(main(), "submit, in the turn in which another caller is cancelled")
    call = "3 requests, the second of which is cancelled as the third comes"
    expect_batches(model, [(DELAY, [0, 2])], call)

    async def closing():
        model = Model()
        batcher = answer.MicroBatcher(model, (2,), max_size=3, max_delay=DELAY)
        callers = [asyncio.create_task(batcher.submit(request(i))) for i in range(2)]
        await asyncio.sleep(0.5)
        callers[0].cancel()
        await batcher.close()
        await asyncio.gather(*callers, return_exceptions=True)
        return model

    model = run(closing(), "close(), in the turn in which a caller is cancelled")
    expect_batches(model, [(0.5, [1])], "2 requests, the first of which is cancelled just before close()")


def test_cancelled_in_a_batch(answer):
    """A caller that is cancelled while predict works takes nobody with it."""
    for cancelled in ([0], [1, 2], [2], [0, 1, 2]):
        for bad in ({}, {1: KeyError("1")}):
            model = Model(4.0, bad)
            events = [
                (0.0, 0),
                (0.1, 1),
                (0.2, 2),
                (0.3, 3),
                *((1.0, number, "cancel") for number in cancelled),
            ]
            call = f"submit, with callers {cancelled} of the first batch cancelled"
            outcomes = play(answer, model, events, call)
            expect_batches(model, [(0.2, [0, 1, 2]), (2.3, [3])], call)
            expect_equal(sorted(set(model.done)), [(0, "done"), (1, "done")], f"how predict ended, {call}")
            if not bad:
                expect_rows(model, outcomes, call)
            for number in range(3):
                yours, when = outcomes[number]
                if number in cancelled:
                    expect_equal((yours, when), ("cancelled", 1.0), f"what became of caller {number}, {call}")
                elif bad:
                    expect_that(yours is bad[1], f"caller {number} of a batch that fails", yours=yours)
                else:
                    expect_equal(when, 4.2, f"when caller {number} gets its row, {call}")


def test_time_outs(answer):
    """asyncio.wait_for around submit ends in time, and frees the place in the queue."""

    async def main():
        model = Model(seconds=1.0)
        batcher = answer.MicroBatcher(model, (2,), max_size=4, max_delay=DELAY)

        async def caller(number, at, limit):
            await asyncio.sleep(at)
            try:
                await asyncio.wait_for(batcher.submit(request(number)), limit)
            except asyncio.TimeoutError:
                return "time out", now()
            return "row", now()

        # the first gives up while it waits; the second while predict works, which the third does not notice
        plan = [(0, 0.0, 0.5), (1, 0.1, 2.5), (2, 0.2, 10.0)]
        outcomes = await asyncio.gather(*(caller(*one) for one in plan))
        await batcher.close()
        return model, outcomes

    model, outcomes = run(main(), "asyncio.wait_for(submit(x), …)")
    expect_batches(model, [(2.1, [1, 2])], "three callers with time-outs")
    expect_equal(
        outcomes, [("time out", 0.5), ("time out", 2.6), ("row", 3.1)], "three callers with time-outs"
    )


def test_storm(answer, gen):
    """400 callers, of whom some are cancelled and some break their batch: all hear what is theirs."""
    events = arrivals(gen, 400, 0.05)
    bad = {number: ValueError(f"request {number}") for number in range(11, 400, 37)}
    for time, number in list(events):
        if number % 9 == 4:
            late = int(torch.randint(600, (), generator=gen)) / 1000 + 0.00025
            events.append((round(time + late, 5), number, "cancel"))
    model = Model(0.21, bad)
    outcomes = play(answer, model, events, "400 callers", max_size=8, delay=0.3005)
    expect_batches(model, expected(events, 8, 0.3005), "400 callers, some of them cancelled")
    expect_equal(len(outcomes), 400, "the number of callers that are done")
    for time, numbers in model.batches:
        raised = next((bad[number] for number in numbers if number in bad), None)
        for number in numbers:
            yours, when = outcomes[number]
            if yours == "cancelled":
                continue
            expect_equal(when, round(time + 0.21, 6), f"when caller {number} of 400 hears of it")
            if raised is not None:
                expect_that(yours is raised, f"caller {number} of 400", yours=yours, wanted=raised)
            else:
                wanted = [float(number), float(len(numbers)), -float(number)]
                expect_equal(yours, wanted, f"the row of caller {number} of 400")


def test_close(answer):
    """close sends what waits at once, waits for predict, and lets nobody in after that."""

    async def main():
        model = Model(3.0, {1: KeyError("1")})
        batcher = answer.MicroBatcher(model, (2,), max_size=2, max_delay=DELAY)
        callers = [asyncio.create_task(batcher.submit(request(i))) for i in range(5)]
        await asyncio.sleep(0.5)
        closing = asyncio.create_task(batcher.close())
        await asyncio.sleep(0.25)
        late = await asyncio.gather(batcher.submit(request(9)), return_exceptions=True)
        expect_that(not closing.done(), "close() returns before predict is done")
        await closing
        closed = now()
        for _ in range(3):  # callers hear of it in a turn of their own
            await asyncio.sleep(0)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        await batcher.close()
        after = await asyncio.gather(batcher.submit(request(9)), return_exceptions=True)
        return model, [caller.done() for caller in callers], closed, now(), late + after, left

    model, done, closed, again, late, left = run(main(), "batcher.close()")
    expect_batches(model, [(0.0, [0, 1]), (0.0, [2, 3]), (0.5, [4])], "5 requests, closed after 0.5 s")
    expect_equal((closed, again), (3.5, 3.5), "when the first and the second close() return")
    expect_equal(done, [True] * 5, "whether callers are done after close()")
    for error in late:
        expect_that(
            isinstance(error, RuntimeError),
            "wrong result of submit(x) after close()",
            yours=error if not isinstance(error, Exception) else f"{type(error).__name__}: {error}",
            wanted="RuntimeError",
        )
    expect_that(not left, "a task is left after close()", yours=f"{len(left)}: {[*left][:1]}")

    async def nobody_waits(cancelled):
        batcher = answer.MicroBatcher(Model(3.0), (2,), max_size=2, max_delay=DELAY)
        callers = [asyncio.create_task(batcher.submit(request(i))) for i in range(2)]
        await asyncio.sleep(0.5)
        for caller in callers[:cancelled]:
            caller.cancel()
        await batcher.close()
        closed = now()
        await asyncio.gather(*callers, return_exceptions=True)
        return closed

    for cancelled in (0, 2):
        closed = run(nobody_waits(cancelled), "batcher.close(), where nobody waits")
        about = f"predict has a batch of 2 until 3 s, and {cancelled} of its callers were cancelled"
        expect_equal(closed, 3.0, f"when close() returns, where nobody waits, {about}")


def test_two_that_close(answer):
    """Two may close at the same time, and one that gives up does not stop predict, nor let anybody in."""
    late = []

    async def main():
        model = Model(3.0)
        batcher = answer.MicroBatcher(model, (2,), max_size=2, max_delay=DELAY)
        callers = [asyncio.create_task(batcher.submit(request(i))) for i in range(3)]
        await asyncio.sleep(0.5)

        async def close(seconds):
            try:
                await asyncio.wait_for(batcher.close(), seconds)
            except asyncio.TimeoutError:
                return "time out", now()
            return "closed", now()

        first = asyncio.gather(close(1.0), close(30.0))
        await asyncio.sleep(0.25)
        ends = await first
        late.extend(await asyncio.gather(batcher.submit(request(9)), return_exceptions=True))
        ends.append(await close(30.0))
        rows = await asyncio.gather(*callers, return_exceptions=True)
        return model, ends, rows

    model, ends, rows = run(main(), "batcher.close(), called by two")
    refused = isinstance(late[0], RuntimeError)
    expect_that(refused, "submit raises no RuntimeError after a close() was cancelled", yours=repr(late[0]))
    wanted = [("time out", 1.5), ("closed", 3.5), ("closed", 3.5)]
    expect_equal(ends, wanted, "when close() returns, for one who gives up after 1 s, and for others")
    expect_equal(sorted(model.done), [(0, "done"), (1, "done")], "how predict ended")
    for i, row in enumerate(rows):
        expect_that(isinstance(row, torch.Tensor), f"caller {i} gets no row", yours=repr(row))


def test_close_without_work(answer):
    """close returns at once where nothing is to be done, and after cancelled callers."""

    async def main():
        model = Model()
        await answer.MicroBatcher(model, (2,), max_delay=DELAY).close()
        batcher = answer.MicroBatcher(model, (2,), max_delay=DELAY)
        caller = asyncio.create_task(batcher.submit(request(0)))
        await asyncio.sleep(0.5)
        caller.cancel()
        await asyncio.sleep(0.25)
        await batcher.close()
        return model.batches, now(), len(asyncio.all_tasks())

    yours = run(main(), "batcher.close()")
    expect_equal(yours, ([], 0.75, 1), "batches, time and tasks after close() without work")


def test_nothing_runs_while_idle(answer):
    """A batcher that has nothing to do sets no timers."""

    async def main():
        model = Model()
        batcher = answer.MicroBatcher(model, (2,), max_size=2, max_delay=DELAY)
        await asyncio.gather(batcher.submit(request(0)), batcher.submit(request(1)))
        await asyncio.sleep(DELAY + 1)
        timers = asyncio.get_running_loop().timers()
        await batcher.close()
        return len(timers)

    expect_equal(run(main(), "MicroBatcher(…)"), 0, "the timers of a batcher that has nothing to do")


def test_two_batchers(answer):
    """Two batchers, built before the loop runs, do not know of each other."""
    models = [Model(), Model(2.0)]
    batchers = [
        answer.MicroBatcher(model, (2,), max_size=size, max_delay=delay)
        for model, size, delay in zip(models, (2, 3), (1.0, 0.5), strict=True)
    ]

    async def main():
        first, second = batchers
        one = [asyncio.create_task(first.submit(request(i))) for i in range(3)]
        two = [asyncio.create_task(second.submit(request(10 + i))) for i in range(4)]
        rows = await asyncio.gather(*one, *two)
        last = asyncio.create_task(second.submit(request(20)))
        await asyncio.sleep(0.75)
        await first.close()
        closed = now()
        rows.append(await last)
        await second.close()
        return rows, closed

    rows, closed = run(main(), "two batchers")
    expect_equal(
        closed, 3.25, "when close() of one batcher, which is called at 3.25 s with nothing to do, returns"
    )
    expect_batches(models[0], [(0.0, [0, 1]), (1.0, [2])], "the first of two batchers")
    expect_batches(models[1], [(0.0, [10, 11, 12]), (0.5, [13]), (3.0, [20])], "the second of two batchers")
    expect_equal([int(row[0]) for row in rows], [0, 1, 2, 10, 11, 12, 13, 20], "the rows of two batchers")


def test_bad_settings(answer):
    """A max_size below 1 and a negative max_delay raise ValueError."""
    for options in (
        {"max_size": 0},
        {"max_size": -3},
        {"max_delay": -0.1},
        {"max_size": 0, "max_delay": -1.0},
    ):
        expect_raises(
            ValueError,
            lambda options=options: answer.MicroBatcher(Model(), (2,), **options),
            f"MicroBatcher(predict, (2,), {', '.join(f'{k}={v}' for k, v in options.items())})",
        )


def oracle(answer, gen):
    model = Model(0.4, {17: KeyError("17")})
    events = arrivals(gen, 60, 0.1)
    events.append((events[30][0] + 0.00025, 30, "cancel"))
    outcomes = play(answer, model, events, "60 callers", max_size=5, delay=0.5005)
    told = {
        str(number): [row if isinstance(row, (list, str)) else type(row).__name__, time]
        for number, (row, time) in sorted(outcomes.items())
    }
    return [[[time, numbers] for time, numbers in model.batches], told]
