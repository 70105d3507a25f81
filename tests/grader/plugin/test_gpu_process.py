"""Checks that need a GPU run apart from others. The GPU is made up here: what counts is who sees it."""

import json
import subprocess
import sys

import pytest

from tests.grader.support.clone import ADDING, CONSTANT, PUBLIC, STUB, Clone

pytestmark = pytest.mark.slow

MADE_UP = """
import os, torch

torch.cuda.device_count = lambda: 1 if os.environ.get("CUDA_VISIBLE_DEVICES", "0") else 0
"""

HIDDEN = '''import json, os
from pathlib import Path

import pytest
import torch
from grader.checks import expect_close

HERE = Path(__file__).parent


def note(name):
    with open(HERE / "seen.jsonl", "a") as stream:
        stream.write(json.dumps([name, os.getpid(), torch.cuda.device_count()]) + "\\n")


def test_values(answer, gen):
    """Every number is doubled."""
    note("values")
    x = torch.randn(4, generator=gen)
    expect_close(answer.double(x), x * 2, "double(x)")


@pytest.mark.gpu
def test_on_a_gpu(answer, gen):
    """On a GPU too."""
    note("gpu")
    x = torch.randn(4, generator=gen)
    expect_close(answer.double(x), x * 2, "double(x) on a GPU")


@pytest.mark.gpu
@pytest.mark.parametrize("n", [1, 2])
def test_sizes_on_a_gpu(answer, n):
    """On a GPU with other sizes."""
    note("gpu")
    expect_close(answer.double(torch.ones(n)), torch.full((n,), 2.0), "double(x) on a GPU")


@pytest.mark.multi_gpu
def test_on_two_gpus(answer):
    """On two GPUs."""
    note("two")


def oracle(answer, gen):
    return {f"{n} numbers": answer.double(torch.randn(n, generator=gen)) for n in (7, 8, 9)}
'''

RIGHT_ON_THE_CPU = """
import os

def double(x):
    return x * (3 if os.environ.get("CUDA_VISIBLE_DEVICES", "0") else 2)
"""
DIES_ON_THE_GPU = """
import os

def double(x):
    if os.environ.get("CUDA_VISIBLE_DEVICES", "0"):
        os._exit(3)
    return x * 2
"""


@pytest.fixture
def clone(tmp_path):
    made = Clone(tmp_path / "clone")
    made.add("double", public=PUBLIC, hidden=HIDDEN, specimens=[CONSTANT, ADDING])
    made.add("twice")  # what follows: pytest tears down between files
    (made.root / "made_up_gpu.py").write_text(MADE_UP)
    return made


def run(clone, monkeypatch, *arguments):
    """What pytest printed, and what the checks saw: their name, their process, and how many GPUs."""
    monkeypatch.setenv("PYTHONPATH", str(clone.root))
    monkeypatch.setenv("PYTEST_PLUGINS", "made_up_gpu")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", *arguments]
    done = subprocess.run(command, cwd=clone.root, capture_output=True, text=True, check=False)
    seen = clone.root / "tests" / "hidden" / "e01_tensors" / "seen.jsonl"
    return done.stdout, [json.loads(line) for line in seen.read_text().splitlines()]


def test_they_run_in_one_process_that_alone_sees_the_gpu(clone, monkeypatch):
    told, seen = run(clone, monkeypatch, "--answers", "solutions")
    assert "8 passed" in told and "1 not graded here" in told
    assert [(name, gpus) for name, _, gpus in seen] == [("values", 0), ("gpu", 1), ("gpu", 1), ("gpu", 1)]
    assert len({process for _, process, _ in seen}) == 2


def test_where_nothing_else_is_chosen_there_is_one_process(clone, monkeypatch):
    told, seen = run(clone, monkeypatch, "--answers", "solutions", "-m", "gpu")
    assert "3 passed" in told
    assert {gpus for _, _, gpus in seen} == {1}
    assert len({process for _, process, _ in seen}) == 1


def test_what_fails_there_is_told_here(clone, monkeypatch):
    answer = clone.root / "exercises" / "e01_tensors" / "double.py"
    answer.write_text(RIGHT_ON_THE_CPU)
    told, _ = run(clone, monkeypatch, "-k", "double", "-n", "2")
    assert "3 failed, 2 passed, 1 not graded here" in told
    assert "double · On a GPU too.\nwrong" in told
    assert "e01_tensors      " + "░" * 20 in told


def test_what_is_not_written_yet_is_todo(clone, monkeypatch):
    (clone.root / "exercises" / "e01_tensors" / "double.py").write_text(f"{STUB}# begun\n")
    told, _ = run(clone, monkeypatch, "-k", "double")
    assert "failed" not in told
    assert "1 todo" in told


def test_a_process_that_dies_fails_its_checks(clone, monkeypatch):
    (clone.root / "exercises" / "e01_tensors" / "double.py").write_text(DIES_ON_THE_GPU)
    told, _ = run(clone, monkeypatch, "-k", "double")
    assert "3 failed, 2 passed" in told
    assert "the process that judges on the GPU ended before this check did; run pytest -m gpu" in told


def test_the_engine_sees_no_gpu(clone, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setenv("PYTHONPATH", str(clone.root))
    monkeypatch.setenv("PYTEST_PLUGINS", "made_up_gpu")
    code, told = clone.kata("audit")
    assert code == 0, told
    seen = clone.root / "tests" / "hidden" / "e01_tensors" / "seen.jsonl"
    assert {name for name, _, _ in map(json.loads, seen.read_text().splitlines())} == {"values"}
