"""Answers to fair_timer that people write."""

from grader.authoring.specimen import Right, Works, Wrong

WAIT = "    wait = synchronize or _wait_for_accelerator\n"
WARM = "    for _ in range(warmup):\n        step()\n"
RUNS = "    for _ in range(runs):\n"
BEFORE = "        wait()  # what is still queued is not ours\n"
START = "        start = clock()\n"
AFTER = "        wait()  # or the clock is read while the device works\n"
STOP = "        times.append(clock() - start)\n"
RETURN = "    return Timing(statistics.median(times), times)\n"
AVAILABLE = "    if torch.accelerator.is_available():\n        torch.accelerator.synchronize()\n"
RUN = START + "        step()\n" + AFTER + STOP
BODY = WARM + "    times = []\n" + RUNS + BEFORE + RUN + RETURN

TIMING = """
from typing import NamedTuple


class Timing(NamedTuple):
    median: float
    times: list[float]

"""

SPECIMENS = [
    Wrong(
        "does not wait at all",
        edits=[(BEFORE, ""), (AFTER, "")],
        check="test_waits_for_the_device",
        says="times to queue",
        rung="job",
    ),
    Wrong(
        "waits at the end only",
        edits=[(BEFORE, "")],
        check="test_warm_up",
        says="before the clock starts",
        rung="job",
    ),
    Wrong(
        "starts the clock before it waits",
        edits=[(BEFORE, ""), (START, START + "        wait()\n")],
        check="test_warm_up",
        says="starts before the wait",
        rung="job",
    ),
    Wrong("no warm-up", edits=[(WARM, "")], check="test_warm_up", says="no warm-up", rung="job"),
    Wrong("always warms up once", edits=[(WARM, "    step()\n")], check="test_warm_up", rung="job"),
    Wrong(
        "the warm-up counts",
        edits=[(WARM, ""), (RUNS, "    for _ in range(warmup + runs):\n")],
        check="test_warm_up",
        says="among the times",
        rung="job",
    ),
    Wrong(
        "one reading for all runs",
        edits=[
            (
                RUNS + BEFORE + RUN,
                "    wait()\n    start = clock()\n    for _ in range(runs):\n        step()\n    wait()\n"
                "    times = [(clock() - start) / runs] * runs\n",
            )
        ],
        check="test_waits_for_the_device",
        rung="job",
    ),
    Wrong(
        "the mean",
        edits=[("statistics.median(times)", "statistics.mean(times)")],
        check="test_median",
        says="mean",
        rung="job",
    ),
    Wrong(
        "the middle one as they come",
        edits=[("statistics.median(times)", "times[len(times) // 2]")],
        check="test_median",
        says="sort first",
        rung="job",
    ),
    Wrong(
        "a clock of its own",
        edits=[
            (START, START.replace("clock", "time.perf_counter")),
            (STOP, STOP.replace("clock", "time.perf_counter")),
        ],
        check="test_waits_for_the_device",
        rung="job",
    ),
    Wrong(
        "waits for nothing without `synchronize`",
        edits=[(WAIT, "    wait = synchronize or (lambda: None)\n")],
        check="test_without_synchronize",
        says="with a GPU",
        rung="job",
    ),
    Wrong(
        "wants an accelerator",
        edits=[(AVAILABLE, "    torch.accelerator.synchronize()\n")],
        check="test_without_synchronize",
        says="none is available",
        rung="job",
    ),
    Wrong(
        "the upper of the middle two",
        edits=[("statistics.median(times)", "sorted(times)[len(times) // 2]")],
        check="test_even_median",
        says="upper",
    ),
    Wrong(
        "waits once, after the warm-up: not where there is none",
        edits=[(BEFORE, ""), (WARM, WARM + "    if warmup:\n        wait()\n")],
        check="test_earlier_work",
        says="earlier work",
    ),
    Wrong(
        "keeps the result of a run",
        edits=[("        step()\n" + AFTER, "        result = step()\n" + AFTER)],
        check="test_results_are_dropped",
        says="still alive",
    ),
    Wrong(
        "in inference mode, as benchmarks often run",
        edits=[("def measure(", "@torch.inference_mode()\ndef measure(")],
        check="test_gradients",
        says="gradients are on",
    ),
    Wrong(
        "no runs are no time",
        edits=[("statistics.median(times)", "statistics.median(times or [0.0])")],
        check="test_no_runs",
    ),
    Works(
        "waits for CUDA only, as most benchmarks do",
        code="import time\n\nimport torch\n"
        + TIMING
        + """
def measure(step, *, warmup=3, runs=10, synchronize=None, clock=time.perf_counter):
    def sync():
        if synchronize is not None:
            synchronize()
        elif torch.cuda.is_available():
            torch.cuda.synchronize()

    for _ in range(warmup):
        step()
    sync()
    times = []
    for _ in range(runs):
        t0 = clock()
        out = step()
        sync()
        times.append(clock() - t0)
    return Timing(sorted(times)[len(times) // 2], times)
""",
    ),
    Works(
        "without gradients, waits in the warm-up, torch's median",
        code="import time\n\nimport torch\n"
        + TIMING
        + """
@torch.no_grad()
def measure(step, *, warmup=3, runs=10, synchronize=None, clock=time.perf_counter):
    if synchronize is None:
        synchronize = torch.accelerator.synchronize if torch.accelerator.is_available() else lambda: None
    times = []
    for i in range(warmup + runs):
        start = clock()
        step()
        synchronize()
        if i >= warmup:
            times.append(clock() - start)
    return Timing(torch.tensor(times).median().item(), times)
""",
    ),
    Right(
        "timeit, with a clock that waits",
        edits=[
            (
                BODY,
                """    import timeit

    def waited():
        wait()
        return clock()

    for _ in range(warmup):
        step()
    if runs < 1:
        raise ValueError(runs)
    times = timeit.repeat(step, timer=waited, repeat=runs, number=1)
    return Timing(median=statistics.median(times), times=times)
""",
            )
        ],
    ),
    Right(
        "one loop, and NumPy",
        edits=[
            (
                BODY,
                """    import numpy as np

    if runs < 1:
        raise ValueError("at least one run")
    times = np.zeros(warmup + runs)
    for number in range(warmup + runs):
        wait()
        start = clock()
        step()
        wait()
        times[number] = clock() - start
    return Timing(np.median(times[warmup:]), times[warmup:].tolist())
""",
            )
        ],
    ),
]
