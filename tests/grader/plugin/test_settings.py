"""What an answer or a check leaves behind reaches no other check, and is told."""

import gc
import os
import sys

import pytest
import torch

from grader.course.catalog import load
from grader.engine.pool import Pool
from grader.plugin import process_state
from grader.protocol.job import Job
from tests.grader.support.clone import HIDDEN, SOLUTION, Clone

MERGE = load().exercise("merge_heads")
CHANGES = {
    "inference mode on": lambda: HELD.enter_context(torch.inference_mode()),
    "gradients off": lambda: torch.set_grad_enabled(False),
    "garbage collection off": gc.disable,
    "torch.float64 as default": lambda: torch.set_default_dtype(torch.float64),
    "meta as default device": lambda: torch.set_default_device("meta"),
    "3 threads": lambda: torch.set_num_threads(3),
    "deterministic algorithms on": lambda: torch.use_deterministic_algorithms(True, warn_only=True),
    "medium precision of float32 products": lambda: torch.set_float32_matmul_precision("medium"),
    "another sys.stdout": lambda: setattr(sys, "stdout", None),
    "another current folder": lambda: os.chdir("/"),
}


class Held:
    """Keeps what was entered, so that nothing leaves it."""

    def __init__(self):
        self.entered = []

    def enter_context(self, context):
        context.__enter__()
        self.entered.append(context)


HELD = Held()


@pytest.mark.parametrize("told", CHANGES)
def test_each_setting_is_put_back_and_told(told):
    before = process_state.read()
    left = []
    with process_state.kept(left.append):
        CHANGES[told]()
    assert process_state.read() == before
    assert told in left[0]
    with process_state.kept(left.append):
        pass
    assert len(left) == 1


def test_gradients_stay_off_where_inference_mode_is_left():
    with torch.no_grad(), process_state.kept():
        HELD.enter_context(torch.inference_mode())
    assert (torch.is_grad_enabled(), torch.is_inference_mode_enabled()) == (True, False)


LEAVING = HIDDEN.replace("    x = torch.randn", "    torch.set_grad_enabled(False)\n    x = torch.randn", 1)
NEEDING = HIDDEN.replace(
    "    x = torch.ones(3)", "    x = torch.ones(3, requires_grad=True)\n    (x * 2).sum().backward()"
)


def test_pytest_names_who_left_what(run_pytest, tmp_path):
    clone = Clone(tmp_path)
    clone.add("double", hidden=LEAVING)
    clone.add("twice", hidden=NEEDING)
    folder = tmp_path / "exercises" / "e01_tensors"
    (folder / "double.py").write_text(SOLUTION)
    (folder / "twice.py").write_text(f"import gc, torch\ntorch.set_default_dtype(torch.float64)\n{SOLUTION}")
    code, told = run_pytest(folder=clone.root)
    assert code == 0
    assert "test_values of double left gradients off" in told
    assert "importing twice left torch.float64 as default" in told
    assert told.count(" left ") == 2
    assert "put back" not in run_pytest("-s", "--answers=solutions", "-k", "twice", folder=clone.root)[1]


def test_the_engine_puts_them_back():
    text = MERGE.file("solutions").read_text("utf-8")
    line = "    return side_by_side"
    assert text.count(line) == 1
    once = "    if not CALLS:\n        torch.set_grad_enabled(False)\n    CALLS.append(1)\n"
    text = f"{text.replace(line, once + line)}\n\nimport torch\nCALLS = []\n"
    with Pool([MERGE], jobs=1, confined=False) as pool:
        found = pool.judge_one(Job(MERGE, text.encode(), seed=0, mode="check"))
    assert {finding.outcome for finding in found.checks.values()} == {"passed"}
