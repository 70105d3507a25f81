"""Answers to fair_timer that people write."""

from grader.authoring.specimen import Right, Wrong

CHECK = "    if warmup < 0 or runs < 1 or calls < 1:\n"
WAIT = "    wait = synchronize or _wait_for_accelerator\n"
WARM = "    for _ in range(warmup):\n        step()\n"
BEFORE = "        wait()  # what is still queued is not ours\n"
START = "        start = clock()\n"
CALLS = "        for _ in range(calls):\n            step()\n"
AFTER = "        wait()  # or the clock is read while the device works\n"
STOP = "        times.append((clock() - start) / calls)\n"
RUNS = "    for _ in range(runs):\n"
RETURN = "    return Timing(statistics.median(times), times)\n"
AVAILABLE = "    if torch.accelerator.is_available():\n        torch.accelerator.synchronize()\n"
BODY = WARM + "    times = []\n" + RUNS + BEFORE + START + CALLS + AFTER + STOP + RETURN

SPECIMENS = [
    Wrong(
        "takes off what the loop alone costs",
        edits=[
            (
                WARM,
                WARM
                + "    begin = clock()\n    for _ in range(calls):\n        pass\n    loop = clock() - begin\n",
            ),
            (STOP, STOP.replace("clock() - start", "clock() - start - loop")),
        ],
        check="test_several_calls",
    ),
    Wrong(
        "in inference mode, as benchmarks often run",
        edits=[("def measure(", "@torch.inference_mode()\ndef measure(")],
        check="test_modes_and_errors",
        says="calls step",
    ),
    Wrong(
        "without the garbage collector, and after an error too",
        edits=[(WARM, "    import gc\n\n    gc.disable()\n" + WARM), (RETURN, "    gc.enable()\n" + RETURN)],
        check="test_modes_and_errors",
        says="garbage collector",
    ),
    Wrong(
        "the garbage collector runs afterwards, also where it did not before",
        edits=[
            (
                WARM,
                WARM
                + "    import gc\n\n    gc.disable()\n    try:\n        return _measured(step, runs, calls, wait, clock)\n    finally:\n        gc.enable()\n\n\ndef _measured(step, runs, calls, wait, clock):\n",
            ),
        ],
        check="test_modes_and_errors",
        says="off before",
    ),
    Wrong(
        "goes on where the warm-up fails",
        edits=[
            (
                WARM,
                "    for _ in range(warmup):\n        try:\n            step()\n        except Exception as error:\n            print(error)\n",
            )
        ],
        check="test_modes_and_errors",
        says="another error",
    ),
    Right(
        "without the garbage collector, for as long as it lasts",
        edits=[
            (
                WARM,
                "    import gc\n\n    on = gc.isenabled()\n    gc.disable()\n    try:\n        return _measured(step, warmup, runs, calls, wait, clock)\n    finally:\n        if on:\n            gc.enable()\n\n\ndef _measured(step, warmup, runs, calls, wait, clock):\n"
                + WARM,
            ),
        ],
    ),
    Wrong(
        "does not wait at all",
        edits=[(BEFORE, ""), (AFTER, "")],
        check="test_waits_for_the_device",
        says="ms",
    ),
    Wrong("waits at the end only", edits=[(BEFORE, "")], check="test_earlier_work"),
    Wrong("waits at the start only", edits=[(AFTER, "")], check="test_waits_for_the_device"),
    Wrong(
        "waits once, after the warm-up: not where there is none",
        edits=[(BEFORE, ""), (WARM, WARM + "    if warmup:\n        wait()\n")],
        check="test_earlier_work",
    ),
    Wrong(
        "waits after the second reading",
        edits=[(AFTER, ""), (STOP, STOP + "        wait()\n")],
        check="test_waits_for_the_device",
    ),
    Wrong(
        "reads the clock before it waits",
        edits=[(BEFORE, ""), (START, START + "        wait()\n")],
        check="test_earlier_work",
    ),
    Wrong(
        "waits after each call",
        edits=[(CALLS, CALLS + "            wait()\n"), (AFTER, "")],
        check="test_several_calls",
    ),
    Wrong("waits twice at the end", edits=[(AFTER, AFTER + "        wait()\n")], check="test_several_calls"),
    Wrong(
        "times each call by itself",
        edits=[
            (
                START + CALLS + AFTER + STOP,
                "        spent = 0.0\n        for _ in range(calls):\n            wait()\n            start = clock()\n            step()\n            wait()\n            spent += clock() - start\n        times.append(spent / calls)\n",
            )
        ],
        check="test_several_calls",
    ),
    Wrong("the time of a run, not of a call", edits=[(" / calls)", ")")], check="test_several_calls"),
    Wrong(
        "one call in a run, whatever `calls` says",
        edits=[(CALLS, "        step()\n"), (" / calls)", ")")],
        check="test_several_calls",
    ),
    Wrong(
        "one reading for all runs",
        edits=[
            (
                RUNS + BEFORE + START + CALLS + AFTER + STOP,
                "    wait()\n    start = clock()\n    for _ in range(runs * calls):\n        step()\n    wait()\n    times = [(clock() - start) / (runs * calls)] * runs\n",
            )
        ],
        check="test_waits_for_the_device",
    ),
    Wrong(
        "the warm-up counts",
        edits=[(WARM, ""), (RUNS, "    for _ in range(warmup + runs):\n")],
        check="test_warm_up",
    ),
    Wrong("no warm-up", edits=[(WARM, "")], check="test_warm_up"),
    Wrong("always warms up once", edits=[(WARM, "    step()\n")], check="test_warm_up"),
    Wrong(
        "warms up at least once",
        edits=[("range(warmup)", "range(max(warmup, 1))")],
        check="test_warm_up",
    ),
    Wrong(
        "warm-up in runs, not in calls",
        edits=[("range(warmup)", "range(warmup * calls)")],
        check="test_several_calls",
    ),
    Wrong(
        "takes the first runs for the warm-up",
        edits=[
            (WARM, ""),
            (
                RETURN,
                "    times = times[warmup:]\n    return Timing(statistics.median(times or [0.0]), times)\n",
            ),
        ],
        check="test_warm_up",
    ),
    Wrong("the mean", edits=[("statistics.median(times)", "statistics.mean(times)")], check="test_median"),
    Wrong("the fastest", edits=[("statistics.median(times)", "min(times)")], check="test_median"),
    Wrong(
        "the upper of the middle two",
        edits=[("statistics.median(times)", "sorted(times)[len(times) // 2]")],
        check="test_median",
    ),
    Wrong(
        "the median of torch: the lower of the middle two",
        edits=[("statistics.median(times)", "torch.tensor(times, dtype=torch.float64).median().item()")],
        check="test_median",
    ),
    Wrong(
        "the middle of the times as they come",
        edits=[
            (
                "statistics.median(times)",
                "(times[(len(times) - 1) // 2] + times[len(times) // 2]) / 2",
            )
        ],
        check="test_median",
    ),
    Wrong("sorts the times", edits=[(RETURN, "    times.sort()\n" + RETURN)], check="test_median"),
    Wrong(
        "readings in float32",
        edits=[
            (START, "        start = torch.tensor(clock())\n"),
            (STOP, "        times.append(((torch.tensor(clock()) - start) / calls).item())\n"),
        ],
        check="test_an_old_clock",
    ),
    Wrong(
        "times as tensors",
        edits=[(RETURN, "    return Timing(torch.tensor(times).median(), torch.tensor(times))\n")],
        check="test_waits_for_the_device",
    ),
    Wrong(
        "milliseconds",
        edits=[(" / calls)", " / calls * 1e3)")],
        check="test_waits_for_the_device",
    ),
    Wrong(
        "rounds to microseconds",
        edits=[(STOP, STOP.replace("(clock() - start) / calls", "round((clock() - start) / calls, 6)"))],
        check="test_waits_for_the_device",
    ),
    Wrong(
        "a clock of its own",
        edits=[
            (START, "        start = time.perf_counter()\n"),
            ("(clock() - start)", "(time.perf_counter() - start)"),
        ],
        check="test_waits_for_the_device",
    ),
    Wrong(
        "other defaults, by a wrapper",
        edits=[("    warmup: int = 3,\n", "    warmup: int = 1,\n")],
        check="test_defaults",
    ),
    Wrong("no ValueError", edits=[(CHECK, "    if False:\n")], check="test_bad_arguments"),
    Wrong(
        "a negative warmup is none",
        edits=[("warmup < 0 or ", "")],
        check="test_bad_arguments",
    ),
    Wrong(
        "finds out after the warm-up",
        edits=[
            (
                CHECK
                + '        raise ValueError(f"cannot time with warmup={warmup}, runs={runs}, calls={calls}")\n',
                "",
            ),
            (
                WARM,
                WARM
                + '    if warmup < 0 or runs < 1 or calls < 1:\n        raise ValueError("cannot time this")\n',
            ),
        ],
        check="test_bad_arguments",
    ),
    Wrong(
        "keeps the results",
        edits=[(CALLS, "        results = [step() for _ in range(calls)]\n")],
        check="test_results_are_dropped",
    ),
    Wrong(
        "keeps one result in a variable",
        edits=[(CALLS, CALLS.replace("step()", "result = step()"))],
        check="test_results_are_dropped",
    ),
    Wrong(
        "keeps the result of the warm-up",
        edits=[(WARM, WARM.replace("step()", "result = step()"))],
        check="test_results_are_dropped",
    ),
    Wrong(
        "waits for CUDA only",
        edits=[(AVAILABLE, "    if torch.cuda.is_available():\n        torch.cuda.synchronize()\n")],
        check="test_waits_for_the_accelerator",
    ),
    Wrong(
        "waits for nothing without `synchronize`",
        edits=[(WAIT, "    wait = synchronize or (lambda: None)\n")],
        check="test_waits_for_the_accelerator",
    ),
    Wrong(
        "wants an accelerator",
        edits=[(AVAILABLE, "    torch.accelerator.synchronize()\n")],
        check="test_no_accelerator",
    ),
    Wrong(
        "ignores `synchronize`",
        edits=[(WAIT, "    wait = _wait_for_accelerator\n")],
        check="test_waits_for_the_device",
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
    totals = timeit.repeat(step, timer=waited, repeat=runs, number=calls)
    times = [total / calls for total in totals]
    return Timing(median=statistics.median(times), times=times)
""",
            )
        ],
    ),
    Right(
        "a loop, NumPy and one reading between two runs",
        edits=[
            (
                BODY,
                """    import numpy as np

    readings = []
    for number in range(warmup + runs * calls):
        if number >= warmup and (number - warmup) % calls == 0:
            wait()
            readings.append(clock())
        step()
        if number >= warmup and (number - warmup) % calls == calls - 1:
            wait()
            readings.append(clock())
    times = (np.asarray(readings[1::2]) - np.asarray(readings[::2])) / calls
    return Timing(float(np.median(times)), times.tolist())
""",
            )
        ],
    ),
    Wrong(
        "no time is nothing, for whoever divides by it later",
        edits=[(STOP, "        times.append(max((clock() - start) / calls, 1e-9))\n")],
        check="test_an_old_clock",
        says="whole numbers",
    ),
    Wrong(
        "waits after each hundredth call",
        edits=[
            (
                CALLS,
                CALLS.replace("for _ in", "for number in")
                + "            if number % 100 == 99:\n                wait()\n",
            )
        ],
        check="test_several_calls",
        says="calls=100",
    ),
    Wrong(
        "the garbage collector rests, and for ever where a KeyboardInterrupt ends the measurement",
        code="""
import gc
import time
from collections import deque
from itertools import repeat, starmap
from typing import NamedTuple

import torch


class Timing(NamedTuple):
    median: float
    times: list[float]


def _repeat(step, count):
    deque(starmap(step, repeat((), count)), maxlen=0)  # keeps nothing


def measure(step, *, warmup=3, runs=10, calls=1, synchronize=None, clock=time.perf_counter):
    if warmup < 0:
        raise ValueError("negative warmup")
    if runs < 1 or calls < 1:
        raise ValueError("no runs or calls")
    if synchronize is None:
        def synchronize():
            if torch.accelerator.is_available():
                torch.accelerator.synchronize()
    _repeat(step, warmup)
    collecting = gc.isenabled()
    gc.disable()
    try:
        times = []
        for _ in range(runs):
            synchronize()
            begin = clock()
            _repeat(step, calls)
            synchronize()
            end = clock()
            times.append(float(end - begin) / calls)
    except Exception:
        if collecting:
            gc.enable()
        raise
    if collecting:
        gc.enable()
    ordered = sorted(times)
    return Timing((ordered[(runs - 1) // 2] + ordered[runs // 2]) / 2, times)
""",
        check="test_modes_and_errors",
        says="KeyboardInterrupt",
    ),
    Wrong(
        "the median of float32 numbers",
        edits=[("statistics.median(times)", "torch.tensor(times).quantile(0.5).item()")],
        check="test_waits_for_the_device",
    ),
    Wrong(
        "calls step by an iterator, which takes its StopIteration for the end",
        edits=[
            (
                "        for _ in range(calls):\n            step()\n",
                "        deque(starmap(step, repeat((), calls)), maxlen=0)\n",
            ),
            (
                "from collections.abc import Callable\n",
                "from collections import deque\nfrom collections.abc import Callable\nfrom itertools import repeat, starmap\n",
            ),
        ],
        check="test_modes_and_errors",
        says="no batch is left",
    ),
    Wrong(
        "waits for the accelerator, and calls synchronize besides",
        edits=[
            (
                WAIT,
                """    def wait():
        _wait_for_accelerator()
        if synchronize is not None:
            synchronize()

""",
            )
        ],
        check="test_waits_for_the_accelerator",
        says="next to a `synchronize`",
    ),
]
