"""Costs: what is done once is no growth, a loop is."""

import fnmatch
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
import torch

from grader.checks import CheckFailure, count_operations, expect_flat_cost, forbid, peak_bytes
from grader.checks.cost import steps
from grader.checks.cost.steps import count_steps
from grader.checks.devices.rehearsal import rehearse
from grader.checks.devices.rules import traits_of
from grader.course import paths


def keeps_a_mask(n):
    """A call that makes something of this size when it is first needed, as layers do."""
    kept = {}

    def call():
        if n not in kept:
            mask = torch.ones(n, n).tril()
            for _ in range(20):
                mask = mask * 1
            kept[n] = mask
        return kept[n]

    return call


def loops(n):
    x = torch.ones(n)
    return lambda: sum(x[i] for i in range(n))


def test_what_is_kept_is_no_growth():
    expect_flat_cost(keeps_a_mask, "layer(x)")


def test_a_loop_is_growth():
    with pytest.raises(CheckFailure, match="grows with rows"):
        expect_flat_cost(loops, "layer(x)", over="rows")


def test_what_was_rehearsed_is_looked_up_once():
    rehearse()
    known = traits_of.cache_info()
    assert known.currsize > 100
    rehearse()
    assert traits_of.cache_info().misses == known.misses


def test_the_first_run_of_a_function_is_counted_like_the_second():
    found = {}
    exec(compile("def add_up(n):\n    return sum([i for i in range(n)])\n", "answer.py", "exec"), found)
    first, second, more = (count_steps(lambda n=n: found["add_up"](n)) for n in (6, 6, 24))
    assert 0 < first == second < more


COUNTS = """
import sys, torch
from grader.checks import count_operations
x = torch.ones(2)
count_operations(lambda: x + 1)
print("torch._dynamo" in sys.modules)
"""


@pytest.mark.slow
def test_counting_does_not_import_the_compiler():
    ran = subprocess.run([sys.executable, "-c", COUNTS], cwd=paths.ROOT, capture_output=True, text=True)
    assert ran.stdout == "False\n"


def test_counting_is_hidden_from_the_compiler():
    from torch._dynamo.utils import counters

    compiled = torch.compile(lambda x: x.sin() + 1, backend="eager")
    compiled(torch.ones(3))
    counters.clear()
    assert count_operations(lambda: compiled(torch.ones(4))) == {"ones": 1, "sin": 1, "add": 1}
    assert not counters["frames"]
    torch.compiler.reset()


def started():
    """A pool whose thread waits already."""
    pool = ThreadPoolExecutor(1)
    pool.submit(int).result()
    return pool


@pytest.fixture(scope="module")
def early():
    """Started when somebody saw to it that threads are followed, as an answer's are."""
    before = threading.gettrace()
    steps.follow_threads()
    yield started()
    threading.settrace(before)


def in_a_thread(fn):
    found = []
    thread = threading.Thread(target=lambda: found.append(fn()))
    thread.start()
    thread.join()
    return found[0]


def without_modes(fn):
    with torch._C.DisableTorchFunction(), torch.utils._python_dispatch._disable_current_modes():
        return fn()


def in_a_process(fn):
    if (child := os.fork()) == 0:
        with suppress(BaseException):
            fn()
        os._exit(0)
    os.waitpid(child, 0)


def profiled(fn):
    with torch.profiler.profile():
        return fn()


DETOURS = {
    "as it is": lambda fn: fn(),
    "in a thread": in_a_thread,
    "without modes": without_modes,
    "in a process": in_a_process,
    "under a profiler": profiled,
}


@pytest.fixture(params=[*DETOURS, "in a thread from before"])
def detour(request, early):
    return DETOURS.get(request.param, lambda fn: early.submit(fn).result())


def test_what_is_forbidden_is_seen_by_every_detour(detour):
    x = torch.randn(2, 3)
    for softmax in (
        torch.softmax,
        torch.log_softmax,
        lambda x, dim: torch.ops.aten._masked_softmax(x, x > 0, dim),
    ):
        with pytest.raises(CheckFailure, match=r"rules out|cannot be seen"), forbid("f(x)", "softmax"):
            detour(lambda softmax=softmax: softmax(x, -1))
    with forbid("f(x)", "softmax"):
        x.exp() / x.exp().sum(-1, keepdim=True).requires_grad_()
    with forbid("f(x)", "softmax"):  # blocks may nest
        with pytest.raises(CheckFailure, match="backward"), forbid("f(x)", "grad", "backward"):
            in_a_thread(x.requires_grad_().sum().backward)
        x.requires_grad_()


def test_a_loop_is_seen_by_every_detour(detour):
    def of_operations(n):
        x = torch.ones(n)
        return lambda: detour(lambda: sum(x[i] for i in range(n)))

    def of_python(n):
        return lambda: detour(lambda: [i for i in range(n)])

    for loop in (of_operations, of_python):
        with pytest.raises(CheckFailure, match=r"grows with|cannot be seen"):
            expect_flat_cost(loop, "f(x)")


def test_code_of_a_string_is_counted_and_a_librarys_is_not(monkeypatch):
    source = "def add_up(n):\n    return sum([i for i in range(n)])\n"
    for name in ("<mine>", "<frozen os>", os.__file__):
        found = {"__name__": "os"}
        exec(compile(source, name, "exec"), found)
        assert count_steps(lambda f=found: f["add_up"](24)) > count_steps(lambda f=found: f["add_up"](6)) + 17
    few, many = (count_steps(lambda n=n: fnmatch.filter(["a"] * n, "a")) for n in (6, 24))
    assert few == many


def test_who_switches_tracing_off_is_told():
    with pytest.raises(CheckFailure, match="tracing switched off"):
        expect_flat_cost(lambda n: lambda: sys.settrace(None), "f(x)")


def test_memory_of_another_thread_is_told():
    with pytest.raises(CheckFailure, match="in another thread, where nobody sees"):
        peak_bytes(lambda: in_a_thread(lambda: torch.ones(1000)))
    assert peak_bytes(lambda: torch.ones(1000)) == 4000
