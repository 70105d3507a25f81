"""What grades measure: waiting, warm-up, median, with and without a GPU; results dropped, modes, no runs."""

import gc
import statistics
import weakref
from contextlib import ExitStack, contextmanager
from functools import partial
from unittest import mock

import pytest
import torch

from grader.checks import expect_equal, expect_that
from grader.checks.contract import Contract, errors, given, values


class Machine:
    """A host and a device on one clock, which only moves when one of them works.

    `queueing` and `running` are the seconds of the calls, in turn; `busy` those of what was queued before.
    """

    def __init__(self, queueing, running, busy=0.0):
        self.queueing, self.running, self.now, self.idle_at = queueing, running, 0.0, busy
        self.calls = 0

    def step(self):
        number = self.calls
        self.calls += 1
        self.now += self.queueing[number % len(self.queueing)]
        self.idle_at = max(self.idle_at, self.now) + self.running[number % len(self.running)]
        return number % 2 > 0  # a step may return anything

    def synchronize(self, *_, **__):
        self.now = max(self.now, self.idle_at)

    def clock(self):
        return self.now


def timed(step, warmup, runs, before=True, inside=False, after=True, median=statistics.median, unit=1.0):
    """The times by the rules, which wait `before` a run starts and `after` it; or with a mistake."""
    machine, times = machine_of(step), []
    for _ in range(warmup):
        machine.step()
    for _ in range(runs):
        machine.synchronize() if before else None
        start = machine.clock()
        machine.synchronize() if inside else None
        machine.step()
        machine.synchronize() if after else None
        times.append(unit * (machine.clock() - start))
    return {"times": torch.tensor(times), "median": median(times), "calls of step": machine.calls}


def machine_of(step):
    return Machine(**{name: value for name, value in step.items() if name != "accelerator"})


@contextmanager
def accelerator(kind, machine):
    """Let torch believe in an accelerator of this kind, or in none, which a machine plays."""

    def absent(*_, **__):
        raise RuntimeError("Cannot access accelerator device when none is available.")

    here = torch.accelerator, bool(kind), machine.synchronize if kind else absent
    named = [
        (getattr(torch, n), kind == n, machine.synchronize if kind == n else absent) for n in ("cuda", "xpu")
    ]
    with ExitStack() as stack:
        put = lambda *what: stack.enter_context(mock.patch.object(*what))  # noqa: E731
        put(torch.accelerator, "device_count", lambda: int(bool(kind)))
        put(torch.accelerator, "current_accelerator", lambda *_: torch.device(kind) if kind else None)
        for module, available, wait in (here, *named):
            put(module, "is_available", lambda available=available: available)
            put(module, "synchronize", wait)
        yield


def measured(answer, step, **counts):
    """What is told of a machine's steps; of one with an `accelerator`, or None, without `synchronize`."""
    machine = machine_of(step)
    if "accelerator" in step:
        with accelerator(step["accelerator"], machine):
            yours = answer.measure(machine.step, clock=machine.clock, **counts)
    else:
        waits = {"synchronize": machine.synchronize, "clock": machine.clock}
        yours = answer.measure(machine.step, **waits, **counts)
    floats = all(isinstance(t, float) for t in yours.times)
    return {
        "times": torch.tensor(yours.times, dtype=torch.float32) if floats else yours.times,
        # np.median gives a float of NumPy's
        "median": float(yours.median) if isinstance(yours.median, float) else yours.median,
        "calls of step": machine.calls,
    }


def drawn(gen, low, high, count):
    return (low + (high - low) * torch.rand(count, generator=gen, dtype=torch.float64)).tolist()


def steps(gen, running, warmup, runs, queueing=(0.001, 0.002), **more):
    """Steps on a device that works for so many seconds, from `running[0]` to `running[1]`, in each call."""
    step = {"queueing": drawn(gen, *queueing, 16), "running": drawn(gen, *running, 16), **more}
    return given(step, warmup=warmup, runs=runs)


def slow_at_first(gen, warmup):
    queueing = drawn(gen, 1.0, 2.0, 3) + drawn(gen, 0.001, 0.002, 9)
    running = drawn(gen, 1.0, 2.0, 3) + drawn(gen, 0.003, 0.006, 9)
    return given({"queueing": queueing, "running": running}, warmup=warmup, runs=5)


def one_slow(gen, runs):
    running = [*drawn(gen, 0.01, 0.02, 2), 0.9, *drawn(gen, 0.06, 0.07, 1), *drawn(gen, 0.03, 0.05, 3)]
    return given({"queueing": [0.0], "running": running}, warmup=1, runs=runs)


SLOW = (0.01, 0.05)

contract = Contract(
    "measure(step)",
    reference=timed,
    use=measured,
    inputs=lambda gen: {
        "a device slower than the host": steps(gen, (0.2, 0.9), 2, 5, (0.1, 0.2)),
        "a device faster than the host": steps(gen, SLOW, 1, 7, (0.1, 0.2)),
        "a device slower than the host, without a warm-up": steps(gen, (0.2, 0.9), 0, 3, (0.1, 0.2)),
        "one run": steps(gen, (0.1, 0.3), 3, 1, (0.1, 0.2)),
    },
    fine_inputs=lambda gen: {
        "an even number of runs": steps(gen, (0.2, 0.9), 1, 4, (0.1, 0.2)),
        "a device that is busy": steps(gen, (0.2, 0.9), 0, 3, (0.1, 0.2), busy=3.0),
    },
    ulps=64,
    dims=("runs", "", ""),
    suspects={
        "this is the mean": partial(timed, median=statistics.mean),
        "this is the lower of the middle two": partial(timed, median=statistics.median_low),
        "this is the upper of the middle two": partial(timed, median=statistics.median_high),
        "this is the middle one as they come: sort first": partial(timed, median=lambda t: t[len(t) // 2]),
        "these are the times to queue: wait before the clock stops": partial(timed, after=False),
        "nothing waits before the clock starts: earlier work is in the first run": partial(
            timed, before=False
        ),
        "the clock starts before the wait": partial(timed, before=False, inside=True),
        "there is no warm-up": lambda step, warmup, runs: timed(step, 0, runs),
        "the warm-up is one call: `warmup` says how many": lambda step, warmup, runs: timed(step, 1, runs),
        "the warm-up is among the times": lambda step, warmup, runs: timed(step, 0, warmup + runs),
        "these are milliseconds": partial(timed, unit=1000.0),
    },
    job=[
        values(
            title="A run lasts until the device is done, on a device that is slower or faster than the host."
        ),
        values(
            inputs=lambda gen: {
                f"slow first calls, {n} to warm up": slow_at_first(gen, n) for n in (3, 1, 0)
            },
            name="warm_up",
            title="The slow first calls do not count; `warmup` says how many they are.",
        ),
        values(
            inputs=lambda gen: {f"{n} runs, one of them slow": one_slow(gen, n) for n in (1, 5)},
            name="median",
            title="One slow run moves the mean, not the median, and stays where it was among the times.",
        ),
        values(
            inputs=lambda gen: {
                "on a machine with a GPU": steps(gen, SLOW, 2, 3, accelerator="cuda"),
                "on a machine without a GPU": steps(gen, (0.0, 0.0), 2, 3, accelerator=None),
            },
            name="without_synchronize",
            title="Without `synchronize` the GPU of the machine is waited for; without a GPU, nothing.",
        ),
    ],
    fine=[
        values(
            inputs=lambda gen: {"on Intel's xpu": steps(gen, SLOW, 2, 3, accelerator="xpu")},
            name="any_accelerator",
            title="Without `synchronize` any accelerator of the machine is waited for.",
        ),
        values(
            inputs=lambda gen: {f"{n} runs": steps(gen, SLOW, 1, n, (0.0, 0.0)) for n in (2, 6)},
            name="even_median",
            title="Of an even number of runs the median is the mean of the middle two.",
        ),
        values(
            inputs=lambda gen: {"a device that is busy": steps(gen, (0.002, 0.004), 0, 3, busy=7.5)},
            name="earlier_work",
            title="What the caller had queued before is in no run, also without a warm-up.",
        ),
        errors(ValueError, lambda gen: [steps(gen, SLOW, 0, 0)], title="No runs are a ValueError."),
    ],
)


@pytest.mark.fine
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

    answer.measure(step, warmup=2, runs=3)
    yours = f"{alive} of them, call by call: 2 to warm up, 3 runs"
    expect_that(not any(alive), "a result of step is still alive when step is called again", yours=yours)


@pytest.mark.fine
@pytest.mark.parametrize("mode", [True, False], ids=["with gradients", "without"])
def test_gradients(answer, mode):
    """step runs with gradients where the caller has them on, and without where they are off."""
    seen = []
    with torch.set_grad_enabled(mode):
        answer.measure(lambda: seen.append(torch.is_grad_enabled()), warmup=1, runs=2)
    expect_equal(
        seen, [mode] * 3, f"whether gradients are on in each call of step, where they are {mode} outside"
    )
