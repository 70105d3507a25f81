"""Golden transcripts: what a learner reads for each kind of mistake, word for word."""

import os
import textwrap
from dataclasses import replace

import pytest
import torch

from grader.authoring import specimen
from grader.authoring.specimen import Wrong
from grader.checks import expect_equal, expect_flat_cost, forbid
from grader.checks.error_words import error_line, unusable
from grader.course import paths
from grader.course.catalog import load
from grader.diagnose.causes import cause_of_error
from grader.engine.pool import Pool
from grader.learner.outcome import learn
from grader.plugin import failure_report
from grader.plugin.load_answer import Answers
from grader.protocol.check import CheckSpec, Finding
from grader.protocol.job import Job
from grader.protocol.transcript import Transcript

EXERCISE = load().exercise("merge_heads")
SOLUTION = EXERCISE.file("solutions").read_text("utf-8")
RIGHT = "return side_by_side.reshape(batch, time, heads * dim)  # a view where strides allow it"


@pytest.fixture(scope="module")
def pool():
    with Pool([EXERCISE], jobs=os.cpu_count() or 1, confined=False) as pool:
        yield pool


def transcript(pool, source, check):
    """The feedback of one check, or what is told where there was none."""
    found = pool.judge_one(Job(EXERCISE, source.encode(), seed=0, mode="check"))
    if check not in found.checks:
        return found.broken.text
    title = next(one.title for one in pool.inventory[EXERCISE.slug] if one.id == check)
    return "\n".join(found.checks[check].feedback.told(EXERCISE, title))


def returning(expression):
    assert SOLUTION.count(RIGHT) == 1
    return SOLUTION.replace(RIGHT, f"return {expression}")


EXAMPLE = "public::test_worked_example"
KINDS = {
    "wrong shape": (
        returning("x.flatten(1)"),
        EXAMPLE,
        """\
        merge_heads · The worked example of the statement comes out.
        wrong shape from merge_heads(x)
          yours   int64[1, 8]
          wanted  int64[1, 2, 4]   (batch, time, width)
          exercises/e01_tensors/ex12_merge_heads.py
          hint: kata hint merge_heads""",
    ),
    "nothing returned": (
        returning("None"),
        EXAMPLE,
        """\
        merge_heads · The worked example of the statement comes out.
        wrong type from merge_heads(x)
          yours   None
          wanted  int64[1, 2, 4]   (batch, time, width)
          likely  does the function end with `return`?
          exercises/e01_tensors/ex12_merge_heads.py
          hint: kata hint merge_heads""",
    ),
    "exception inside the answer": (
        returning("x.view(batch, -1, 3)"),
        EXAMPLE,
        """\
        merge_heads · The worked example of the statement comes out.
        your code raised RuntimeError: shape '[1, -1, 3]' is invalid for input of size 8
          exercises/e01_tensors/ex12_merge_heads.py:8   return x.view(batch, -1, 3)
          where  x int64[1, 2, 2, 2], batch int 1, heads int 2, time int 2, dim int 2
          hint: kata hint merge_heads""",
    ),
    "a name that an import took from Python": (
        returning("x.mT.reshape(1, 2, int(heads * dim))").replace("torch import Tensor", "torch import *"),
        EXAMPLE,
        """\
        merge_heads · The worked example of the statement comes out.
        your code raised TypeError: 'torch.dtype' object is not callable
          exercises/e01_tensors/ex12_merge_heads.py:8   return x.mT.reshape(1, 2, int(heads * dim))
          where  x int64[1, 2, 2, 2], batch int 1, heads int 2, time int 2, dim int 2
          likely  `int` is not Python's own here: an `import *` replaces it
          hint: kata hint merge_heads""",
    ),
    "wrong signature": (
        SOLUTION.replace("def merge_heads(x:", "def merge_heads(x, heads:"),
        EXAMPLE,
        """\
        merge_heads · The worked example of the statement comes out.
        wrong signature: merge_heads() missing 1 required positional argument: 'heads'
          likely  a parameter was renamed, added or removed
          exercises/e01_tensors/ex12_merge_heads.py
          hint: kata hint merge_heads""",
    ),
    "missing name": (
        SOLUTION.replace("def merge_heads(", "def join_heads("),
        EXAMPLE,
        """\
        merge_heads · The worked example of the statement comes out.
        `merge_heads` is missing: the statement asks for it under this name
          exercises/e01_tensors/ex12_merge_heads.py
          hint: kata hint merge_heads""",
    ),
    "syntax error": (
        "def merge_heads(x:\n",
        EXAMPLE,
        """\
        the file does not import, so nothing can be judged
          exercises/e01_tensors/ex12_merge_heads.py:1   def merge_heads(x:
          SyntaxError: '(' was never closed""",
    ),
    "error while importing": (
        "import torch\ntorch.nope\n",
        EXAMPLE,
        """\
        the file does not import, so nothing can be judged
          exercises/e01_tensors/ex12_merge_heads.py:2   torch.nope
          AttributeError: module 'torch' has no attribute 'nope'""",
    ),
    "a copy where a view was wanted": (
        returning("side_by_side.clone().reshape(batch, time, heads * dim)"),
        "hidden::test_view",
        """\
        merge_heads · Heads that already lie side by side in memory are merged without a copy.
        merge_heads(x) of a transposed view copies
          yours   float32[2, 4, 15] in memory of its own
          wanted  a view of the input's memory
          exercises/e01_tensors/ex12_merge_heads.py
          hint: kata hint merge_heads""",
    ),
    "a cut graph": (
        returning("side_by_side.detach().reshape(batch, time, heads * dim)"),
        "hidden::test_gradients",
        """\
        merge_heads · Gradients flow back to x, and are right.
        no gradient flows through merge_heads(x) of two sequences
          yours   a constant, without grad_fn
          likely  the graph is cut on the way (`.detach()`, `.data`, `.item()`, `no_grad`, NumPy)
          exercises/e01_tensors/ex12_merge_heads.py
          hint: kata hint merge_heads""",
    ),
    "a skip from inside the answer": (
        SOLUTION.replace("    batch, heads", "    import pytest\n\n    pytest.skip('no')\n    batch, heads"),
        EXAMPLE,
        """\
        merge_heads · The worked example of the statement comes out.
        your code raised Skipped: no
          exercises/e01_tensors/ex12_merge_heads.py:8   pytest.skip('no')
          where  x int64[1, 2, 2, 2]
          hint: kata hint merge_heads""",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_transcript(pool, kind):
    source, check, wanted = KINDS[kind]
    assert transcript(pool, source, check) == textwrap.dedent(wanted)


def test_an_endless_loop_is_told_with_its_line(pool):
    source = SOLUTION.replace("    batch, heads", "    while True:\n        pass\n    batch, heads")
    short = replace(EXERCISE, seconds=1.0)
    found = pool.judge_one(Job(short, source.encode(), seed=0, mode="check"))
    (told,) = [finding.feedback for finding in found.checks.values()]
    assert "endless loop" in told.headline
    assert f"{told.where.file}:{told.where.line}".startswith(f"exercises/{EXERCISE.relative}:6")
    assert found.last_word == "stopped"


def test_feedback_never_exceeds_fifteen_lines(pool):
    noisy = returning("(_ for _ in ()).throw(ValueError('line\\n' * 50))")
    for source, check, _ in [*KINDS.values(), (noisy, EXAMPLE, "")]:
        assert len(transcript(pool, source, check).splitlines()) <= 15


def constant(x):
    return x.detach().sum().backward()


def other_input(x):
    return torch.autograd.grad(x.sum(), torch.ones(2, requires_grad=True))


def written_after_use(x):
    y = x.exp()
    return y.mul_(y.sin()).sum().backward()


def written_view(x):
    first, _ = (2 * x).split(1)
    first.mul_(3)
    return first.sum().backward()


class Misfit(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, gradient):
        return torch.ones(3)


@pytest.mark.parametrize(
    "run, says",
    [
        (lambda x: Misfit.apply(x).sum().backward(), "backward fails: it gives a gradient that does not fit"),
        (lambda x: torch.ones(1).expand(3).add_(2), "what your code gave back cannot be written to"),
        (constant, "no gradient flows through what your code gave back"),
        (other_input, "no gradient flows to a tensor on which what your code gave back should depend"),
        (written_after_use, "backward fails: a tensor that it needs was changed in place"),
        (written_view, "backward fails: a view that belongs to the graph was changed in place"),
        (
            lambda x: torch.nn.Linear(2, 2).load_state_dict({"weight": torch.eye(2), "scale": x}),
            "your code's parameters and buffers have other names than they should\n"
            "  extra   bias\n"
            "  lacks   scale",
        ),
        (lambda x: x.nope(), "`.nope` is missing: what your code gave the check is float32[2]"),
        (
            lambda x: (x, 1).mean,
            "`.mean` is missing: what your code gave the check is tuple of 2 (float32[2]",
        ),
        (lambda x: None.mean, "the check could not use what your code gave it: AttributeError: 'NoneType'"),
        (lambda x: x[9], "the check could not use what your code gave it: IndexError: "),
    ],
)
def test_what_torch_says_below_a_check_is_told_in_words(run, says):
    with pytest.raises(Exception) as raised:
        run(torch.ones(2, requires_grad=True))
    assert unusable(raised.value).text.startswith(says)


def test_gradients_that_stay_off_are_named(pool):
    off = "    import torch\n\n    torch.set_grad_enabled(False)\n    batch, heads"
    found = pool.judge_one(Job(EXERCISE, SOLUTION.replace("    batch, heads", off).encode(), seed=0))
    told = found.checks["hidden::test_gradients"].feedback
    assert told.likely.startswith("gradients are still switched off")


def test_folders_and_addresses_are_left_out_of_errors():
    error = RuntimeError(
        "Task <main() at /usr/lib/python3/asyncio/events.py:18> of <A object at 0x7f00aa> is lost"
    )
    assert error_line(error) == "RuntimeError: Task <main() at events.py:18> of <A object> is lost"
    assert error_line(OSError("no /tmp/a/weights.pt, exercises/e01/ex.py")) == (
        "OSError: no /tmp/a/weights.pt, exercises/e01/ex.py"
    )


def test_a_long_error_is_wrapped_and_not_cut():
    assert error_line(RuntimeError("x" * 5 + " word" * 40 + " [7, 9]")).endswith("word [7, 9]")
    assert max(map(len, error_line(RuntimeError("word " * 900)).splitlines())) < 160
    assert len(error_line(RuntimeError("word " * 900 + "\nmore\nand more")).splitlines()) == 3
    assert error_line(ValueError()) == "ValueError"


def test_what_is_printed_is_kept_and_capped(pool):
    source = SOLUTION.replace("    batch, heads", "    print('x' * 10_000_000)\n    batch, heads")
    found = pool.judge_one(Job(EXERCISE, source.encode(), seed=0, mode="check"))
    printed = [found.printed, *(finding.printed for finding in found.checks.values())]
    assert all(len(text) <= 4000 for text in printed)
    assert any(text.startswith("xxx") for text in printed)


def test_the_words_that_name_a_mistake_are_asked_for():
    """The audit looks for these words in what is told of each wrong answer; this counts that it has to."""
    named = {
        e.slug: [s.says for s in specimen.read(e.file("specimens")) if isinstance(s, Wrong) and s.says]
        for e in load().exercises
        if e.file("specimens").exists()
    }
    assert sum(map(len, named.values())) >= 400
    assert sum(not words for words in named.values()) <= len(named) // 10


@pytest.mark.parametrize(
    "run, likely",
    [
        (lambda: torch.ones(2, dtype=torch.uint16) > 0, "torch cannot do this (gt) in uint16: convert"),
        (lambda: torch.ones(0, 3).reshape(0, -1), "the tensor is empty, so that -1 could stand for any size"),
        (lambda: torch.ones(()).backward(), "nothing that this is computed from requires a gradient"),
        (lambda: torch.ones(2, requires_grad=True).add_(1), "a parameter is changed while autograd records"),
        (lambda: torch.ones(1).expand(3).add_(2), "an expanded tensor is written to"),
        (lambda: torch.ones(2, device="meta").sum().item(), 'a tensor on "meta" has a shape and no numbers'),
        (lambda: torch.ones(2).reshape(3), None),
        (lambda: {}["x"], None),
    ],
)
def test_errors_of_torch_have_a_likely_cause(run, likely):
    with pytest.raises(Exception) as raised:
        run()
    cause = cause_of_error(raised.value)
    assert cause is None if likely is None else cause.startswith(likely)


def test_a_broken_rule_is_told_before_wrong_numbers():
    expected = [CheckSpec(name, name) for name in ("numbers", "a rule", "more numbers")]
    checks = {spec.id: Finding("failed", None, spec.id == "a rule") for spec in expected}
    lesson = learn(EXERCISE, expected, Transcript(checks, last_word="done"))
    assert [f.title for f in lesson.failures] == ["a rule", "numbers", "more numbers"]


def test_what_the_statement_rules_out_is_a_broken_rule(request):
    def own_softmax(*functions):
        with forbid("softmax(x)", *functions):
            torch.ones(3).softmax(0)

    def told(check):
        call = pytest.CallInfo.from_call(check, when="call")
        return failure_report.tell(call, request.node, EXERCISE, Answers(paths.EXERCISES))

    assert told(lambda: own_softmax("softmax")).is_rule
    loops = lambda: expect_flat_cost(lambda n: lambda: [torch.ones(1) + 1 for _ in range(n)], "f(x)")  # noqa: E731
    assert told(loops).is_rule
    assert not told(lambda: expect_equal(1, 2, "f(x)")).is_rule
