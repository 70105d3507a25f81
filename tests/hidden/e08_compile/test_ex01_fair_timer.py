"""What grades measure: when it waits and reads the clock, what it counts, medians, memory, no device."""

import gc
import math
import statistics
import weakref

import pytest
import torch

from grader.checks import expect_equal, expect_raises, expect_that
from grader.checks.devices import count_traffic


class Machine:
    """A host and a device on one clock, which only moves when one of them works.

    `queueing` and `running` are the seconds of the calls, in turn; a look at the clock takes `reading`.
    """

    def __init__(self, queueing, running, *, waiting=0.0, busy=0.0, since=0.0, reading=0.0):
        self.reading = reading
        self.queueing, self.running, self.waiting = queueing, running, waiting
        self.now, self.idle_at = since, since + busy
        self.calls = 0

    def step(self):
        number = self.calls
        self.calls += 1
        self.now += self.queueing[number % len(self.queueing)]
        self.idle_at = max(self.idle_at, self.now) + self.running[number % len(self.running)]
        return number % 2 > 0  # a step may return anything

    def synchronize(self):
        self.now = max(self.now, self.idle_at) + self.waiting

    def clock(self):
        self.now += self.reading
        return self.now

    def wanted(self, warmup, runs, calls):
        """The times by the rules, on this machine."""
        for _ in range(warmup):
            self.step()
        times = []
        for _ in range(runs):
            self.synchronize()
            start = self.clock()
            for _ in range(calls):
                self.step()
            self.synchronize()
            times.append((self.clock() - start) / calls)
        return times


def drawn(gen, low, high, count):
    return (low + (high - low) * torch.rand(count, generator=gen, dtype=torch.float64)).tolist()


def expect_times(answer, make, call, *, tolerance=1e-9, **arguments):
    """Time on a fresh machine, and compare with the rules on another."""
    settings = {"warmup": 3, "runs": 10, "calls": 1} | arguments
    wanted = make().wanted(**settings)
    machine = make()
    timing = answer.measure(machine.step, synchronize=machine.synchronize, clock=machine.clock, **arguments)
    expect_equal(
        machine.calls,
        settings["warmup"] + settings["runs"] * settings["calls"],
        f"how often {call} calls step",
    )
    expect_equal(len(timing.times), len(wanted), f"the number of times from {call}")
    for number, (mine, right) in enumerate(zip(timing.times, wanted, strict=True)):
        expect_seconds(mine, right, f"times[{number}] of {call}", tolerance)
    expect_seconds(timing.median, statistics.median(wanted), f"the median of {call}", tolerance)


def expect_seconds(mine, right, what, tolerance):
    expect_equal(type(mine).__name__, "float", f"the type of {what}")
    digits = ".15g" if math.isclose(mine, right, rel_tol=1e-6) else ".6f"  # as many as show the difference
    expect_that(
        abs(mine - right) <= tolerance * right,
        f"wrong {what.removeprefix('the ')}",
        yours=f"{mine * 1e3:{digits}} ms",
        wanted=f"{right * 1e3:{digits}} ms",
    )


@pytest.mark.parametrize("device_is", ["slower", "faster"])
def test_waits_for_the_device(answer, gen, device_is):
    """A run lasts until the device is done, on a device that is slower or faster than the host."""
    queueing = drawn(gen, 0.001, 0.002, 16)
    running = drawn(gen, 0.01, 0.05, 16) if device_is == "slower" else drawn(gen, 0.0001, 0.0005, 16)
    expect_times(
        answer,
        lambda: Machine(queueing, running),
        f"measure(step, warmup=2, runs=5), the device is {device_is}",
        warmup=2,
        runs=5,
    )


def test_several_calls(answer, gen):
    """The calls of a run are queued one after the other, with no wait between them; the time is per call."""
    queueing, running = drawn(gen, 0.001, 0.002, 40), drawn(gen, 0.001, 0.004, 40)
    for calls, runs in ((6, 3), (2, 5), (100, 2), (1, 130)):
        call = f"measure(step, warmup=1, runs={runs}, calls={calls})"
        expect_times(
            answer,
            lambda: Machine(queueing, running, waiting=0.0003, reading=0.0002),
            call,
            warmup=1,
            runs=runs,
            calls=calls,
        )


def test_warm_up(answer):
    """The slow first calls do not count, nor what they leave queued; `warmup` says how many they are."""
    queueing = [2.0, 1.0, 0.5, *[0.001 + 0.0001 * n for n in range(30)]]
    running = [3.0, 0.7, 0.9, *[0.004 + 0.0003 * n for n in range(30)]]
    for warmup in (3, 1, 5, 0):
        expect_times(
            answer,
            lambda: Machine(queueing, running),
            f"measure(step, warmup={warmup}, runs=4)",
            warmup=warmup,
            runs=4,
        )


def test_defaults(answer, gen):
    """Without other arguments: three calls to warm up, ten runs of one call."""
    queueing, running = drawn(gen, 0.001, 0.002, 16), drawn(gen, 0.002, 0.004, 16)
    expect_times(answer, lambda: Machine(queueing, running), "measure(step)")


@pytest.mark.parametrize("warmup", [0, 2])
def test_earlier_work(answer, gen, warmup):
    """What the caller had queued before is in no run."""
    queueing, running = drawn(gen, 0.001, 0.002, 8), drawn(gen, 0.002, 0.004, 8)
    expect_times(
        answer,
        lambda: Machine(queueing, running, busy=7.5),
        f"measure(step, warmup={warmup}, runs=3) on a device that is busy",
        warmup=warmup,
        runs=3,
    )


@pytest.mark.parametrize("runs", [1, 2, 5, 6])
def test_median(answer, runs):
    """One slow run moves the mean, not the median; of an even number it is the mean of the middle two."""
    running = [0.03, 0.9, 0.01, 0.04, 0.02, 0.07]
    expect_times(
        answer,
        lambda: Machine([0.0], running),
        f"measure(step, warmup=0, runs={runs})",
        warmup=0,
        runs=runs,
    )


def test_an_old_clock(answer, gen):
    """A clock that started long ago has the same precision, and so have the times, which are floats."""
    running = drawn(gen, 0.0001, 0.0002, 8)
    expect_times(
        answer,
        lambda: Machine([0.00001], running, since=2e6),
        "measure(step, warmup=1, runs=4), the clock has run for weeks",
        tolerance=1e-4,
        warmup=1,
        runs=4,
    )
    expect_times(
        answer,
        lambda: Machine([0], [0, 4], waiting=0, busy=0, since=0),
        "measure(step, warmup=0, runs=2), the clock returns whole numbers",
        warmup=0,
        runs=2,
    )


def test_bad_arguments(answer):
    """Bad arguments are ValueErrors, before step is called."""
    for name, value in (("warmup", -1), ("runs", 0), ("runs", -2), ("calls", 0), ("calls", -1)):
        machine = Machine([0.1], [0.1])
        call = f"measure(step, {name}={value})"
        arguments = {"synchronize": machine.synchronize, "clock": machine.clock, name: value}
        expect_raises(ValueError, lambda m=machine, a=arguments: answer.measure(m.step, **a), call)
        expect_equal(machine.calls, 0, f"how often {call} calls step before its ValueError")


def test_results_are_dropped(answer):
    """No result of step is alive when step is called again."""
    results, alive = [], []

    def step():
        if any(ref() is not None for ref in results):
            gc.collect()  # what only hangs in a reference cycle is not kept
        alive.append(sum(ref() is not None for ref in results))
        result = torch.zeros(3)
        results.append(weakref.ref(result))
        return result

    machine = Machine([0.1], [0.1])
    answer.measure(step, warmup=2, runs=3, calls=2, synchronize=machine.synchronize, clock=machine.clock)
    expect_equal(len(alive), 8, "how often measure(step, warmup=2, runs=3, calls=2) calls step")
    expect_that(
        not any(alive),
        "a result of step is still alive when step is called again",
        yours=f"{alive} of them, call by call: 2 to warm up, 3 runs of 2",
        wanted="none",
    )


@pytest.mark.parametrize("fails", [0, 1, 2, None])
def test_modes_and_errors(answer, fails):
    """step runs in the caller's modes, its error reaches the caller, and all is as it was afterwards."""
    errors = [KeyError("no such batch"), StopIteration("no batch is left"), KeyboardInterrupt()]
    error, seen = errors[fails or 0], []

    def state():
        modes = {"grad mode": torch.is_grad_enabled(), "inference mode": torch.is_inference_mode_enabled()}
        return {**modes, "garbage collector": gc.isenabled()}

    def step():
        seen.append(state())
        if len(seen) - 1 == fails:
            raise error

    was = state()
    if fails is None:  # a caller may have switched both off
        torch.set_grad_enabled(False)
        gc.disable()
    machine, caught, before = Machine([0.1], [0.1]), None, state()
    try:
        answer.measure(step, warmup=1, runs=2, synchronize=machine.synchronize, clock=machine.clock)
    except NotImplementedError:
        raise
    except BaseException as raised:
        caught = raised
    finally:
        after = state()
        torch.set_grad_enabled(was["grad mode"])
        (gc.enable if was["garbage collector"] else gc.disable)()
    wanted = None if fails is None else error
    # a generator of the answer's makes a StopIteration the cause of a RuntimeError (PEP 479)
    reaches = caught is wanted or (fails == 1 and getattr(caught, "__cause__", None) is wanted)
    expect_that(reaches, "another error than step's", yours=repr(caught), wanted=repr(wanted))
    expect_equal(len(seen), 3 if fails is None else fails + 1, "the number of calls of step")
    for number, modes in enumerate(seen):  # for a run, the collector may rest
        modes["garbage collector"] = before["garbage collector"]
        expect_equal(modes, before, f"the modes in which measure(step) calls step, call {number}")
    off = ", where they were off before" if fails is None else ""
    ended = f", which a {type(error).__name__} ended" if caught else ""
    expect_equal(after, before, f"the modes after measure(step){off}{ended}")


def test_waits_for_the_accelerator(answer, device):
    """Without `synchronize` the accelerator of the machine is waited for, before each reading of a run."""
    log = []

    def clock():
        log.append(("read", traffic.syncs))
        return float(len(log))

    with count_traffic() as traffic:
        x = torch.ones(2, device=device)

        def step():
            log.append(("call", traffic.syncs))
            return x + 1

        answer.measure(step, warmup=1, runs=3, calls=2, clock=clock)
    calls = [number for number, (what, _) in enumerate(log) if what == "call"]
    expect_equal(len(calls), 7, "how often measure(step, warmup=1, runs=3, calls=2) calls step")
    for run in range(3):
        first, last = calls[1 + 2 * run], calls[2 + 2 * run]
        expect_equal(log[last][1], log[first][1], f"the waits within run {run} at its last call")
        expect_that(
            log[first - 1][0] == "read" and log[first - 1][1] == log[first][1],
            f"run {run} does not read the clock right before its first call",
        )
        what, waits = log[last + 1]
        expect_that(
            what == "read" and waits == log[last][1] + 1,
            f"run {run} does not end with one wait and a reading of the clock",
            yours=f"{waits - log[last][1]} waits ahead of the next {what}",
            wanted="1 wait ahead of the next read",
        )
    waits = log[calls[1] - 1][1] - log[calls[0]][1]
    expect_that(waits >= 1, "nothing waits between the warm-up and the first reading")
    with count_traffic() as traffic:
        answer.measure(lambda: x + 1, runs=2, synchronize=lambda: None)
    expect_equal(traffic.syncs, 0, "the waits for the accelerator next to a `synchronize` that is given")


def test_no_accelerator(answer, monkeypatch):
    """On a machine without an accelerator nothing is waited for."""

    def absent(*args, **kwargs):
        raise RuntimeError("Cannot access accelerator device when none is available.")

    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda *args, **kwargs: None)
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 0)
    monkeypatch.setattr(torch.accelerator, "synchronize", absent)
    machine = Machine([0.25], [0.0])
    timing = answer.measure(machine.step, runs=2, clock=machine.clock)
    expect_equal(timing.times, [0.25, 0.25], "the times of a step on the CPU")


def oracle(answer, gen):
    results = []
    for warmup, runs, calls in ((0, 4, 1), (2, 3, 3), (1, 1, 2)):
        machine = Machine(drawn(gen, 0.1, 0.2, 16), drawn(gen, 0.1, 0.9, 16), busy=3.0, waiting=0.05)
        timing = answer.measure(
            machine.step,
            warmup=warmup,
            runs=runs,
            calls=calls,
            synchronize=machine.synchronize,
            clock=machine.clock,
        )
        results += [timing.median, list(timing.times), machine.calls]
    return results
