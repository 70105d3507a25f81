"""What grades micro_batcher: size, deadline, own answers, errors; cancellation, closing, memory."""

import asyncio
from dataclasses import dataclass, field

import pytest
import torch

from grader.checks import CheckFailure, expect_equal, expect_that, shares_storage
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

    async def __call__(self, batch):
        numbers = [int(n) for n in batch[:, 0]]
        self.batches.append((now(), numbers))
        if self.seconds:
            await asyncio.sleep(self.seconds)
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


def play(answer, model, events, call, *, max_size=3, delay=DELAY):
    """Submit and cancel at the times of `events`; what became of each request: (row or error, time)."""

    async def main():
        batcher = answer.MicroBatcher(model, (2,), max_size=max_size, max_delay=delay)
        outcomes, callers = {}, {}

        async def caller(number):
            try:
                outcomes[number] = ((await batcher.submit(request(number))).tolist(), now())
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
        await batcher.close()
        return outcomes

    return run(main(), call)


def expect_batches(model, wanted, call):
    """Fail unless predict got these batches at these times; say what is wrong with the first other one."""
    yours, told = model.batches, "(time, numbers of the requests)"
    place = next((i for i, (a, b) in enumerate(zip(yours, wanted, strict=False)) if a != b), None)
    if place is not None:
        (time, numbers), (due, right) = yours[place], wanted[place]
        likely = ""
        if len(yours) > len(wanted) and all(len(sent) == 1 for _, sent in yours):
            likely = "each request goes alone: the first is to wait for others"
        elif numbers == right and 0 < abs(time - due) < 0.01:
            likely = "it is nearly right: is it by another clock than the event loop's?"
        elif len(numbers) > len(right):
            likely = "it is too large, or too late: max_size and the delay of its first request decide"
        elif time != due:
            early = "early: does the timer of a batch that is gone send it?"
            likely = f"it is too {early if time < due else 'late: the delay is that of its first request'}"
        elif sorted(numbers) == sorted(right):
            likely = "the order is not that in which requests came"
        what = f"wrong batch {place} of {call}: {told}"
        raise CheckFailure(what, likely=likely, yours=str(yours[place])[:90], wanted=str(wanted[place])[:90])
    expect_equal(len(yours), len(wanted), f"the number of batches of {call}")


def expect_rows(model, outcomes, call):
    """Fail unless each caller got the row of its number, as soon as its batch was done."""
    for time, numbers in model.batches:
        rows = [[float(n), float(len(numbers)), -float(n)] for n in numbers]
        for number, row in zip(numbers, rows, strict=True):
            yours, when = outcomes[number]
            if yours == "cancelled":
                continue
            suspects = {
                "it is the row of another caller": lambda y=yours, rows=rows: y if y in rows else None,
                "these are the rows of all callers": lambda rows=rows: rows,
            }
            expect_equal(yours, row, f"the row of caller {number} of {call}", suspects=suspects)
            expect_equal(when, round(time + model.seconds, 6), f"when caller {number} of {call} gets its row")


def expect_play(answer, events, call, *, max_size=3, delay=DELAY, seconds=0.0):
    model = Model(seconds)
    outcomes = play(answer, model, events, call, max_size=max_size, delay=delay)
    expect_batches(model, expected(events, max_size, delay), call)
    expect_rows(model, outcomes, call)
    return outcomes


def arrivals(gen, count, mean):
    """Times on a grid of 1 ms, all different; delays that end on half a millisecond never meet them."""
    steps = -mean * torch.rand(count, generator=gen, dtype=torch.float64).log()
    times = torch.cumsum(steps.mul(1000).round().clamp(min=1), 0) / 1000
    return [(round(time, 3), i) for i, time in enumerate(times.tolist())]


def test_size(answer):
    """Callers who come at once go in full batches at once; the rest waits for the delay."""
    for count, max_size in [(10, 4), (8, 4), (3, 4), (1, 4), (200, 64), (5, 1)]:
        events = [(0.0, i) for i in range(count)]
        expect_play(answer, events, f"{count} callers at once, max_size={max_size}", max_size=max_size)


def test_delay(answer):
    """Each batch has the delay of its own first request, also after batches that were full."""
    times = [0.0, 1.5, 2.5, 2.6, 2.7, 3.0, 3.1, 3.2, 3.3, 9.5, 11.0, 20.0, 20.1, 20.2, 21.0, 27.0]
    for delay in (2.0, 0.25, 5.0):
        events = [(time, i) for i, time in enumerate(times)]
        expect_play(answer, events, f"16 callers, max_size=3, max_delay={delay}", delay=delay)


@pytest.mark.parametrize("max_size", [1, 7, 32])
def test_many_callers(answer, gen, max_size):
    """Each of 200 callers gets its own row, and every batch goes when it is due."""
    call = f"200 callers, max_size={max_size}, max_delay=0.1505"
    expect_play(answer, arrivals(gen, 200, 0.02), call, max_size=max_size, delay=0.1505)


def test_errors_reach_their_callers(answer):
    """An error of predict reaches all callers of its batch and nobody else, and the batcher goes on."""
    model = Model(bad={4: KeyError("token 4"), 10: ZeroDivisionError("no")})
    events, call = [(0.2 * i, i) for i in range(15)], "15 callers, where predict raises for 2 batches"
    outcomes = play(answer, model, events, call)
    expect_batches(model, expected(events, 3, DELAY), call)
    for _, numbers in model.batches:
        raised = next((model.bad[number] for number in numbers if number in model.bad), None)
        for number in numbers:
            yours, _ = outcomes[number]
            if raised is None:
                what = f"caller {number} gets an error of another batch, or of none"
                expect_that(not isinstance(yours, Exception), what, yours=repr(yours))
            else:
                what = f"caller {number} of a batch that fails does not get the error of predict"
                expect_that(type(yours) is type(raised), what, yours=repr(yours), wanted=repr(raised))


@pytest.mark.fine
def test_batches_do_not_wait(answer):
    """A batch goes when it is due, also while predict is busy with others."""
    expect_play(answer, [(0.1 * i, i) for i in range(11)], "11 callers, predict takes 30 s", seconds=30.0)
    expect_play(answer, [(0.0, 0), (0.5, 1), (3.0, 2)], "3 callers, max_delay=0", delay=0, seconds=1.0)


CANCELLED = {
    "the first of three": [(0.0, 0), (0.5, 1), (1.0, 0, "cancel"), (1.2, 2), (1.3, 3), (1.4, 4)],
    "the first, and the next has its own delay": [(0.0, 0), (1.0, 1), (1.5, 0, "cancel")],
    "all": [(0.0, 0), (0.5, 1), (0.7, 0, "cancel"), (0.8, 1, "cancel"), (5.0, 2)],
}


@pytest.mark.fine
@pytest.mark.parametrize("who", CANCELLED)
def test_cancelled(answer, who):
    """A caller that is cancelled is not sent, and counts neither for size nor for delay."""
    outcomes = expect_play(answer, CANCELLED[who], f"callers, of whom is cancelled: {who}")
    for _, number, *cancel in CANCELLED[who]:
        if cancel:
            expect_equal(outcomes[number][0], "cancelled", f"what became of caller {number}")


@pytest.mark.fine
def test_cancelled_with_predict(answer):
    """Where a request is with predict already, the others still get their rows."""
    for who in range(3):
        events = [(0.0, 0), (0.0, 1), (0.5, 2)]
        model, call = Model(5.0), f"three callers, of whom {who} is cancelled when predict has them"
        outcomes = play(answer, model, [*events, (1.0, who, "cancel")], call)
        expect_batches(model, [(0.5, [0, 1, 2])], call)
        expect_equal(outcomes[who], ("cancelled", 1.0), f"what became of caller {who}")
        expect_rows(model, outcomes, call)


@pytest.mark.fine
def test_no_rows(answer):
    """Where predict returns no tensor with a row for each request, its callers get RuntimeError."""
    replies = {"2 rows": lambda b: b[:-1], "6 rows": lambda b: torch.cat([b, b]), "None": lambda b: None}

    async def main(reply):
        async def predict(batch):
            return reply(batch)

        batcher = answer.MicroBatcher(predict, (2,), max_size=3, max_delay=DELAY)
        found = await asyncio.gather(*(batcher.submit(request(i)) for i in range(3)), return_exceptions=True)
        await batcher.close()
        return found

    for told, reply in replies.items():
        what = f"no RuntimeError at a caller where predict returns {told} for 3 requests"
        for yours in run(main(reply), f"submit, where predict returns {told} for 3 requests"):
            expect_that(isinstance(yours, RuntimeError), what, yours=repr(yours))


@pytest.mark.fine
def test_own_memory(answer):
    """Each caller's row has memory of its own."""
    kept = []

    async def predict(batch):
        kept.append(batch)
        return batch.mul_(2)

    async def main(x):
        batcher = answer.MicroBatcher(predict, (2,), max_size=2, max_delay=DELAY)
        rows = await asyncio.gather(*(batcher.submit(one) for one in x))
        await batcher.close()
        return rows

    rows = run(main([request(i) for i in range(3)]), "submit")
    for row in rows:
        shared = any(shares_storage(row, batch) for batch in kept)
        expect_that(
            not shared, "a caller's row is a view of the whole batch", likely="contiguous() may not copy"
        )


@pytest.mark.fine
def test_bad_requests(answer):
    """Another shape or dtype is a ValueError, at once, and nobody else notices."""
    model = Model()

    async def main():
        batcher = answer.MicroBatcher(model, (2,), max_size=3, max_delay=DELAY)
        good = [asyncio.create_task(batcher.submit(request(i))) for i in range(2)]
        await asyncio.sleep(0.5)
        for bad in (torch.ones(3), torch.ones(1, 2), torch.ones(2).double()):
            found = await asyncio.gather(batcher.submit(bad), return_exceptions=True)
            what = f"submit of {tuple(bad.shape)} in {bad.dtype}, where (2,) in float32 is asked for,"
            told = f"{what} raises no ValueError"
            expect_that(isinstance(found[0], ValueError), told, yours=repr(found[0]))
            expect_equal(now(), 0.5, f"when {what} has raised")
        await asyncio.gather(*good)
        await batcher.close()

    run(main(), "submit of bad requests")
    expect_equal(model.batches, [(DELAY, [0, 1])], "the batches beside bad requests")


@pytest.mark.fine
def test_close(answer):
    """close sends what waits at once, and waits for all batches; then submit is refused."""
    model = Model(5.0)

    async def main():
        batcher = answer.MicroBatcher(model, (2,), max_size=3, max_delay=DELAY)
        callers = [asyncio.create_task(batcher.submit(request(i))) for i in range(4)]
        await asyncio.sleep(1.0)
        await batcher.close()
        when, done = now(), [caller.done() for caller in callers]
        return when, done, await asyncio.gather(batcher.submit(request(9)), return_exceptions=True)

    when, done, found = run(main(), "close")
    expect_batches(model, [(0.0, [0, 1, 2]), (1.0, [3])], "4 callers, closed after 1 s")
    expect_equal((when, done), (6.0, [True] * 4), "when close returns, and which callers have their rows")
    what = "submit after close raises no RuntimeError"
    expect_that(isinstance(found[0], RuntimeError), what, yours=repr(found[0]), wanted="RuntimeError")


def oracle(answer, gen):
    def played(gen, count, max_size, delay):
        model, events = Model(), arrivals(gen, count, 0.05)
        outcomes = play(answer, model, events, f"{count} callers", max_size=max_size, delay=delay)
        batches = [list(batch) for batch in model.batches]
        return batches, [list(outcomes[i]) for i in range(count)]

    def both(*how):
        return {"batches": lambda gen: played(gen, *how)[0], "rows": lambda gen: played(gen, *how)[1]}

    def broken(gen):
        bad = int(torch.randint(9, (), generator=gen))
        model, events = Model(bad={bad: KeyError("two")}), arrivals(gen, 9, 0.05)
        outcomes = play(answer, model, events, "nine callers, of whom one breaks a batch")
        told = (outcomes[i][0] for i in range(9))
        return [type(one).__name__ if isinstance(one, Exception) else one for one in told]

    crowds = {"few": (12, 3, 0.5), "many": (60, 7, 0.1505), "alone": (4, 9, 0.0305)}
    found = {f"{crowd}: {what}": case for crowd, how in crowds.items() for what, case in both(*how).items()}
    return {**found, "where predict raises": broken}
