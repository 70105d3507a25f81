"""Golden transcripts: for each kind of mistake what a learner reads, word for word.

A small exercise of its own is judged, so that a transcript changes with the feedback and with nothing else.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.grader.support.clone import Clone

pytestmark = pytest.mark.slow

SOLUTION = '''"""Centre a batch of features."""

import torch
import torch.distributed as dist


def center(x, *, dim=-1):
    """x without its mean over dim."""
    if not x.is_floating_point():
        raise ValueError("x must be floating")
    return x - x.mean(dim, keepdim=True)


def first_rows(x, count):
    """A copy of the first rows."""
    return x[:count].clone()


def mean_over_ranks(x):
    """The mean of every rank's x."""
    total = x.clone()
    dist.all_reduce(total)
    return total / dist.get_world_size()
'''
PUBLIC = '''import torch
from grader.checks import expect_close


def test_example(answer):
    """The worked example comes out."""
    x = torch.tensor([[1.0, 3.0]])
    expect_close(answer.center(x), torch.tensor([[-1.0, 1.0]]), "center(x)", dims="batch feature")
'''
HIDDEN = '''import pytest
import torch
from grader.checks import *
from grader.checks.devices import count_traffic, expect_no_traffic, on_host
from grader.checks.distributed import run_ranks


def drawn():
    return (torch.arange(1.0, 13.0) * 0.7310585).sin().reshape(3, 4)


def centred(x, dim=-1):
    return x - x.mean(dim, keepdim=True)


def test_values(answer):
    """Each row has its own mean taken away."""
    x = drawn()
    wanted = centred(x)
    expect_close(answer.center(x), wanted, "center(x)", dims="batch feature", inputs={"x": x})


def test_other_dim(answer):
    """dim says over which dimension the mean is taken."""
    x = drawn()
    expect_close(answer.center(x, dim=0), centred(x, 0), "center(x, dim=0)", dims="batch feature")


def test_dtype(answer):
    """float64 stays float64."""
    x = drawn().double()
    expect_close(answer.center(x), centred(x), "center(x)", dims="batch feature")


def test_gradient(answer, gen):
    """The gradient reaches x."""
    expect_gradients(answer.center, [drawn()], centred, gen=gen, call="center(x)", names="x")


def test_device(answer, device):
    """A batch on another device is centred there."""
    x = drawn()
    there = x.to(device)
    with count_traffic() as traffic:
        yours = answer.center(there)
    expect_close(yours, centred(x).to(device), "center(x) on a device", dims="batch feature")
    expect_no_traffic(traffic, "center(x)")


def test_memory_of_its_own(answer):
    """The first rows are a copy."""
    x = drawn()
    expect_copy(answer.first_rows(x, 2), x, "first_rows(x, 2)")


def test_input(answer):
    """x stays as it is."""
    x = drawn()
    with unchanged("center(x)", x=x):
        answer.center(x)


def test_cost(answer):
    """The number of operations does not grow with the batch."""
    expect_flat_cost(lambda n: lambda x=torch.ones(n, 3): answer.center(x), "center(x)", over="batch")


def test_own_computation(answer):
    """Without layer_norm."""
    with forbid("center(x)", "layer_norm"):
        answer.center(drawn())


def test_error(answer):
    """Integers raise ValueError."""
    expect_raises(ValueError, lambda: answer.center(torch.ones(2, 3).long()), "center(integers)", words="x")


def test_random_stream(answer):
    """Nothing is drawn."""
    with global_rng_untouched("center(x)"):
        answer.center(drawn())


def test_peak(answer):
    """No more than two results' worth of memory is used at once."""
    x = torch.ones(64, 256)
    bytes = peak_bytes(lambda: answer.center(x))
    facts = {"yours": f"{bytes} bytes", "wanted": f"at most {2 * x.nbytes} bytes"}
    expect_that(bytes <= 2.1 * x.nbytes, "center(x) takes too much memory", **facts)


def on_rank(rank, world_size, answer, x):
    return answer.mean_over_ranks(x[rank])


@pytest.mark.multi_process
def test_ranks(answer):
    """Every rank gets the mean."""
    x = drawn()
    for rank, yours in enumerate(run_ranks(2, on_rank, x, answer=answer)):
        expect_close(yours, x[:2].mean(0), f"mean_over_ranks(x) on rank {rank}", dims="feature")


def oracle(answer, gen):
    return answer.center(torch.randn(3, 4, generator=gen))
'''
DRIVER = """
import json, sys
from dataclasses import replace
from grader.course.catalog import load
from grader.protocol.job import Job
from grader.engine.pool import Pool

exercise = load().exercise("center")
told = {}
with Pool([exercise], jobs=2, confined=False) as pool:
    for kind, (source, check) in json.load(sys.stdin).items():
        judged = replace(exercise, seconds=1.0) if "endless" in kind else exercise
        found = pool.judge_one(Job(judged, source.encode(), seed=0, mode="check"))
        title = next(spec.title for spec in pool.inventory["center"] if spec.id == check)
        feedback = found.checks[check].feedback if found.checks else None
        lines = feedback.lines_for(exercise, title) if feedback else found.broken.lines
        told[kind] = "\\n".join(lines) + "\\n"
json.dump(told, sys.stdout)
"""
CENTER = "return x - x.mean(dim, keepdim=True)"
COPY = "return x[:count].clone()"
REDUCE = "dist.all_reduce(total)"
KINDS = {
    "values": (CENTER, "return x - x.mean()", "hidden::test_values"),
    "values in one slice": (
        CENTER,
        "return torch.cat([x[:1], x[1:] - x[1:].mean(dim, keepdim=True)])",
        "hidden::test_values",
    ),
    "values with a known cause": (CENTER, "return x.mean(dim, keepdim=True) - x", "hidden::test_values"),
    "an ignored argument": (CENTER, "return x - x.mean(-1, keepdim=True)", "hidden::test_other_dim"),
    "the input itself": (CENTER, "return x", "hidden::test_values"),
    "not a number": (CENTER, "return x - x.log().mean(dim, keepdim=True)", "hidden::test_values"),
    "a shape": (CENTER, "return (x - x.mean(dim, keepdim=True))[None]", "hidden::test_values"),
    "a shape with a known cause": (CENTER, "return (x - x.mean(dim, keepdim=True)).T", "hidden::test_values"),
    "a dtype": (CENTER, "return (x - x.mean(dim, keepdim=True)).float()", "hidden::test_dtype"),
    "shape and dtype": (
        CENTER,
        "return (x - x.mean(dim, keepdim=True)).double().flatten()",
        "hidden::test_values",
    ),
    "a list": (CENTER, "return (x - x.mean(dim, keepdim=True)).tolist()", "hidden::test_values"),
    "nothing": (CENTER, "x - x.mean(dim, keepdim=True)", "hidden::test_values"),
    "a cut graph": (
        CENTER,
        "return x.detach() - x.detach().mean(dim, keepdim=True)",
        "hidden::test_gradient",
    ),
    "a wrong gradient": (CENTER, "return x - x.mean(dim, keepdim=True).detach()", "hidden::test_gradient"),
    "two devices": (CENTER, "return x - x.mean(dim, keepdim=True).cpu()", "hidden::test_device"),
    "the wrong device": (CENTER, "return (x - x.mean(dim, keepdim=True)).cpu()", "hidden::test_device"),
    "copies between devices": (
        CENTER,
        "return (x - x.mean(dim, keepdim=True)).cpu().to(x.device)",
        "hidden::test_device",
    ),
    "aliasing": (COPY, "return x[:count]", "hidden::test_memory_of_its_own"),
    "mutation": (CENTER, "return x.sub_(x.mean(dim, keepdim=True))", "hidden::test_input"),
    "a count of operations": (
        CENTER,
        "return torch.stack([row - row.mean() for row in x])",
        "hidden::test_cost",
    ),
    "a count of Python steps": (
        CENTER,
        "return torch.tensor([[v - sum(row) / len(row) for v in row] for row in x.tolist()])",
        "hidden::test_cost",
    ),
    "a forbidden function": (
        CENTER,
        "return torch.nn.functional.layer_norm(x, x.shape[-1:])",
        "hidden::test_own_computation",
    ),
    "no error": ('raise ValueError("x must be floating")', "return x", "hidden::test_error"),
    "another error": ("raise ValueError(", "raise TypeError(", "hidden::test_error"),
    "an error that says too little": ("x must be", "must be", "hidden::test_error"),
    "the global random stream": (CENTER, "torch.rand(1); " + CENTER, "hidden::test_random_stream"),
    "bytes": (CENTER, "y = x.clone().expand(9, -1, -1).clone(); " + CENTER, "hidden::test_peak"),
    "an exception inside the answer": (
        CENTER,
        "scale = [2, 3]; return x - x.mean(dim, keepdim=True).view(7)",
        "hidden::test_values",
    ),
    "an exception below the answer": (
        CENTER,
        "return helper(x)\n\n\ndef helper(rows):\n    return rows @ rows",
        "hidden::test_values",
    ),
    "sys.exit": (CENTER, "raise SystemExit(3)", "hidden::test_values"),
    "a wrong signature": ("def center(x, *, dim=-1)", "def center(x, dim=-1, *, eps)", "hidden::test_values"),
    "a renamed parameter": (
        "def center(x, *, dim=-1):",
        "def center(x, *, axis=-1, dimension=-1):\n    dim = axis",
        "hidden::test_other_dim",
    ),
    "a missing name": ("def center(", "def centre(", "hidden::test_values"),
    "a breakpoint": (CENTER, "breakpoint()", "hidden::test_values"),
    "an endless loop": (CENTER, "while True: x = x + 1", "public::test_example"),
    "a rank that waits": (
        REDUCE,
        "if dist.get_rank() == 0:\n        dist.all_reduce(total)",
        "hidden::test_ranks",
    ),
    "a rank that raises": (
        REDUCE,
        "if dist.get_rank() == 1:\n        raise KeyError('x')\n    dist.all_reduce(total)",
        "hidden::test_ranks",
    ),
    "a rank with other values": (
        REDUCE,
        "dist.all_reduce(total)\n    total = total + dist.get_rank()",
        "hidden::test_ranks",
    ),
    "a syntax error": (CENTER, "return x -", "hidden::test_values"),
    "an error while importing": (
        "import torch\n",
        "import torch\n\nEYE = torch.eye(2) @ torch.ones(3, 2)\n",
        "hidden::test_values",
    ),
    "a library that is not there": (
        "import torch\n",
        "import torch\nimport torchmetrics_of_mine\n",
        "hidden::test_values",
    ),
}


def source(old, new):
    assert SOLUTION.count(old) == 1, old
    return SOLUTION.replace(old, new)


def transcripts(folder):
    """What the engine tells of each mistake."""
    clone = Clone(folder)
    clone.add("center", solution=SOLUTION, public=PUBLIC, hidden=HIDDEN)
    asked = {kind: (source(old, new), check) for kind, (old, new, check) in KINDS.items()}
    asked["endless recursion"] = (source(CENTER, "return center(x, dim=dim)"), "hidden::test_values")
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        cwd=clone.root,
        input=json.dumps(asked),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def in_any_python(text):
    """Without what depends on the interpreter: the steps that it takes for a line."""
    return re.sub(r"\d+( Python steps for batch=6,) \d+", r"n\1 m", text)


def golden(kind):
    return Path(__file__).parent / "golden" / f"{kind.replace(' ', '_')}.txt"


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    return transcripts(tmp_path_factory.mktemp("clone"))


@pytest.mark.parametrize("kind", KINDS)
def test_transcript(told, kind):
    assert in_any_python(told[kind]) == in_any_python(golden(kind).read_text("utf-8"))


def test_recursion_is_told_at_a_line_of_the_answer(told):
    """Each version of Python words it in its own way, and stops at another line."""
    assert "your code raised RecursionError: maximum recursion depth exceeded" in told["endless recursion"]
    assert "exercises/e01_tensors/center.py:" in told["endless recursion"]


def test_no_transcript_is_left_over():
    folder = Path(__file__).parent / "golden"
    assert {file.name for file in folder.iterdir()} == {golden(kind).name for kind in KINDS}


if (
    __name__ == "__main__"
):  # python -m tests.grader.plugin.test_transcripts: write them anew, then read the diff
    with tempfile.TemporaryDirectory() as folder:
        for kind, text in transcripts(Path(folder)).items():
            if kind in KINDS:
                golden(kind).write_text(text, "utf-8")
