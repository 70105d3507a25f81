"""Costs: what is done once is no growth, a loop is."""

import subprocess
import sys

import pytest
import torch

from grader.checks import CheckFailure, count_operations, expect_flat_cost
from grader.checks.cost.operations import count_steps
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
