"""What grades measure: waiting, warm-up, median, with and without a GPU; results dropped, modes, no runs."""

import gc
import statistics
import weakref

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_number, expect_raises, expect_that


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

    def timed(self, warmup, runs, before=True, inside=False, after=True):
        """The times by the rules, which wait `before` a run starts and `after` it; or with a mistake."""
        for _ in range(warmup):
            self.step()
        times = []
        for _ in range(runs):
            self.synchronize() if before else None
            start = self.clock()
            self.synchronize() if inside else None
            self.step()
            self.synchronize() if after else None
            times.append(self.clock() - start)
        return times


MISTAKES = {
    "these are the times to queue: wait before the clock stops": {"after": False},
    "nothing waits before the clock starts: earlier work is in the first run": {"before": False},
    "the clock starts before the wait": {"before": False, "inside": True},
}


def drawn(gen, low, high, count):
    return (low + (high - low) * torch.rand(count, generator=gen, dtype=torch.float64)).tolist()


def given(machine):
    return {"synchronize": machine.synchronize}


def expect_timing(answer, make, what="", waits_by=given, **counts):
    """Time on a fresh machine, and compare with the rules on another."""
    call = f"measure(step, {', '.join(f'{name}={n}' for name, n in counts.items())}){what}"
    warmup, runs = counts["warmup"], counts["runs"]
    machine, wanted = make(), make().timed(warmup, runs)
    yours = answer.measure(machine.step, clock=machine.clock, **counts, **waits_by(machine))

    def of(times):
        return torch.tensor(times, dtype=torch.float32)

    suspects = {told: lambda m=m: of(make().timed(**counts, **m)) for told, m in MISTAKES.items()}
    suspects |= {
        "there is no warm-up": lambda: of(make().timed(0, runs)),
        "the warm-up is one call: `warmup` says how many": lambda: of(make().timed(1, runs)),
        "the warm-up is among the times": lambda: of(make().timed(0, warmup + runs)),
        "these are milliseconds": lambda: 1000 * of(wanted),
    }
    expect_that(
        all(isinstance(t, float) for t in yours.times),
        f"times that are no floats from {call}",
        yours=yours.times,
    )
    expect_close(
        of(list(yours.times)), of(wanted), f"`times` of {call}", dims="runs", ulps=64, suspects=suspects
    )
    suspects = {
        "this is the mean": lambda: statistics.mean(wanted),
        "this is the lower of the middle two": lambda: statistics.median_low(wanted),
        "this is the upper of the middle two": lambda: statistics.median_high(wanted),
        "this is the middle one as they come: sort first": lambda: wanted[runs // 2],
    }
    # np.median gives a float of NumPy's
    median = float(yours.median) if isinstance(yours.median, float) else yours.median
    expect_number(median, statistics.median(wanted), f"median of {call}", suspects=suspects)
    expect_equal(machine.calls, warmup + runs, f"how often {call} calls step")


@pytest.mark.parametrize("device_is", ["slower", "faster"])
def test_waits_for_the_device(answer, gen, device_is):
    """A run lasts until the device is done, on a device that is slower or faster than the host."""
    queueing = drawn(gen, 0.001, 0.002, 16)
    running = drawn(gen, 0.01, 0.05, 16) if device_is == "slower" else drawn(gen, 0.0001, 0.0005, 16)
    what = f", the device is {device_is} than the host"
    expect_timing(answer, lambda: Machine(queueing, running), what, warmup=2, runs=5)


@pytest.mark.parametrize("warmup", [3, 1, 0])
def test_warm_up(answer, gen, warmup):
    """The slow first calls do not count; `warmup` says how many they are."""
    queueing = drawn(gen, 1.0, 2.0, 3) + drawn(gen, 0.001, 0.002, 9)
    running = drawn(gen, 1.0, 2.0, 3) + drawn(gen, 0.003, 0.006, 9)
    expect_timing(answer, lambda: Machine(queueing, running), warmup=warmup, runs=5)


@pytest.mark.parametrize("runs", [1, 5])
def test_median(answer, gen, runs):
    """One slow run moves the mean, not the median, and stays where it was among the times."""
    running = [*drawn(gen, 0.01, 0.02, 2), 0.9, *drawn(gen, 0.06, 0.07, 1), *drawn(gen, 0.03, 0.05, 3)]
    expect_timing(answer, lambda: Machine([0.0], running), warmup=1, runs=runs)


def accelerator(monkeypatch, kind):
    """Let torch believe in an accelerator of this kind, or in none, which a machine plays."""

    def absent(*_, **__):
        raise RuntimeError("Cannot access accelerator device when none is available.")

    def plays(machine):
        wait = machine.synchronize if kind else absent
        monkeypatch.setattr(torch.accelerator, "is_available", lambda: bool(kind))
        monkeypatch.setattr(torch.accelerator, "device_count", lambda: 1 if kind else 0)
        monkeypatch.setattr(
            torch.accelerator, "current_accelerator", lambda *_: torch.device(kind) if kind else None
        )
        monkeypatch.setattr(torch.accelerator, "synchronize", wait)
        for name in ("cuda", "xpu"):
            monkeypatch.setattr(getattr(torch, name), "is_available", lambda name=name: kind == name)
            monkeypatch.setattr(getattr(torch, name), "synchronize", wait if kind == name else absent)
        return {}

    return plays


@pytest.mark.parametrize("kind", ["cuda", None], ids=["a GPU", "only a CPU"])
def test_without_synchronize(answer, gen, monkeypatch, kind):
    """Without `synchronize` the GPU of the machine is waited for; without a GPU, nothing."""
    queueing, running = drawn(gen, 0.001, 0.002, 16), drawn(gen, 0.01, 0.05, 16) if kind else [0.0]
    what = ", no `synchronize` given, on a machine with a GPU" if kind else ", on a machine without a GPU"
    plays = accelerator(monkeypatch, kind)
    expect_timing(answer, lambda: Machine(queueing, running), what, plays, warmup=2, runs=3)


@pytest.mark.fine
def test_any_accelerator(answer, gen, monkeypatch):
    """Without `synchronize` any accelerator of the machine is waited for."""
    queueing, running = drawn(gen, 0.001, 0.002, 16), drawn(gen, 0.01, 0.05, 16)
    plays = accelerator(monkeypatch, "xpu")
    expect_timing(answer, lambda: Machine(queueing, running), ", on Intel's xpu", plays, warmup=2, runs=3)


@pytest.mark.fine
@pytest.mark.parametrize("runs", [2, 6])
def test_even_median(answer, gen, runs):
    """Of an even number of runs the median is the mean of the middle two."""
    running = drawn(gen, 0.01, 0.05, 8)
    expect_timing(answer, lambda: Machine([0.0], running), warmup=1, runs=runs)


@pytest.mark.fine
def test_earlier_work(answer, gen):
    """What the caller had queued before is in no run, also without a warm-up."""
    queueing, running = drawn(gen, 0.001, 0.002, 8), drawn(gen, 0.002, 0.004, 8)
    what = " on a device that is busy"
    expect_timing(answer, lambda: Machine(queueing, running, busy=7.5), what, warmup=0, runs=3)


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


@pytest.mark.fine
def test_no_runs(answer):
    """No runs are a ValueError."""
    expect_raises(ValueError, lambda: answer.measure(list, warmup=0, runs=0), "measure(step, runs=0)")


def timing(answer, gen, low, high, warmup, runs, busy=0.0):
    """The median, and the times, on a device that works for so many seconds in each call."""
    machine = Machine(drawn(gen, 0.1, 0.2, 16), drawn(gen, low, high, 16), busy)
    waits = {"synchronize": machine.synchronize, "clock": machine.clock}
    yours = answer.measure(machine.step, warmup=warmup, runs=runs, **waits)
    return [torch.tensor(found, dtype=torch.float32) for found in (yours.median, yours.times)]


def oracle(answer, gen):
    slow, fast = (0.2, 0.9), (0.01, 0.05)

    def median(*how):
        return lambda gen: [timing(answer, gen, *how)[0] for _ in range(3)]

    def times(*how):
        return lambda gen: timing(answer, gen, *how)[1]

    return {
        "the times of a device slower than the host": times(*slow, 2, 5),
        "the times of a device faster than the host": times(*fast, 1, 7),
        "the times without a warm-up": times(*slow, 0, 4),
        "the median of five runs": median(*slow, 2, 5),
        "the median of seven runs": median(*fast, 1, 7),
        "the median of one run": median(0.1, 0.3, 3, 1),
    }


def fine_oracle(answer, gen):
    return {
        "an even number of runs": timing(answer, gen, 0.2, 0.9, 1, 4),
        "a device that is busy": timing(answer, gen, 0.2, 0.9, 0, 3, busy=3.0),
    }
