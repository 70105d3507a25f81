"""Golden transcripts: what a learner reads for each kind of mistake, word for word."""

import io
import os
import pickle
import textwrap
import types
from dataclasses import replace

import pytest
import torch
from torch.nn import functional as F

from grader.checks import expect_equal, expect_flat_cost, forbid
from grader.checks.error_words import error_line, unusable
from grader.course import paths, specimens
from grader.course.catalog import load
from grader.course.specimen import Wrong
from grader.diagnose.idioms import cause_of_error
from grader.engine.pool import Pool
from grader.plugin import failure_report
from grader.plugin.load_answer import Answers
from grader.protocol.feedback import Fact, Feedback
from grader.protocol.job import Job

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
    return "\n".join(found.checks[check].feedback.lines_for(EXERCISE, title))


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
          values  yours [[0, 1, 2, 3, 4, 5, 6, 7]], wanted [[[0, 1, 4, 5], [2, 3, 6, 7]]]
          given   x = [[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]]
          exercises/e01_tensors/merge_heads.py
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
          exercises/e01_tensors/merge_heads.py
          hint: kata hint merge_heads""",
    ),
    "exception inside the answer": (
        returning("x.view(batch, -1, 3)"),
        EXAMPLE,
        """\
        merge_heads · The worked example of the statement comes out.
        your code raised RuntimeError: shape '[1, -1, 3]' is invalid for input of size 8
          exercises/e01_tensors/merge_heads.py:8   return x.view(batch, -1, 3)
          where  x int64[1, 2, 2, 2], batch int 1, heads int 2, time int 2, dim int 2
          hint: kata hint merge_heads""",
    ),
    "a value that is called": (
        returning("x.mT.reshape(x.shape())"),
        EXAMPLE,
        """\
        merge_heads · The worked example of the statement comes out.
        your code raised TypeError: 'torch.Size' object is not callable
          exercises/e01_tensors/merge_heads.py:8   return x.mT.reshape(x.shape())
          where  x int64[1, 2, 2, 2], batch int 1, heads int 2, time int 2, dim int 2
          likely  `x.shape` is a value, no function: leave out the `()` behind it
          hint: kata hint merge_heads""",
    ),
    "a method that nobody calls": (
        returning("x").replace("    return x", "    x.requires_grad_\n    return x"),
        EXAMPLE,
        """\
        merge_heads · The worked example of the statement comes out.
        wrong shape from merge_heads(x)
          yours   int64[1, 2, 2, 2]
          wanted  int64[1, 2, 4]   (batch, time, width)
          values  yours [[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]], wanted [[[0, 1, 4, 5], [2, 3, 6, 7]]]
          given   x = [[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]]
          likely  `x.requires_grad_` alone on its line does nothing: `x.requires_grad_()` calls it
          exercises/e01_tensors/merge_heads.py
          hint: kata hint merge_heads""",
    ),
    "a name that an import took from Python": (
        returning("x.mT.reshape(1, 2, int(heads * dim))").replace("torch import Tensor", "torch import *"),
        EXAMPLE,
        """\
        merge_heads · The worked example of the statement comes out.
        your code raised TypeError: 'torch.dtype' object is not callable
          exercises/e01_tensors/merge_heads.py:8   return x.mT.reshape(1, 2, int(heads * dim))
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
          exercises/e01_tensors/merge_heads.py
          hint: kata hint merge_heads""",
    ),
    "missing name": (
        SOLUTION.replace("def merge_heads(", "def join_heads("),
        EXAMPLE,
        """\
        merge_heads · The worked example of the statement comes out.
        `merge_heads` is missing: the statement asks for it under this name
          exercises/e01_tensors/merge_heads.py
          hint: kata hint merge_heads""",
    ),
    "syntax error": (
        "def merge_heads(x:\n",
        EXAMPLE,
        """\
        the file does not import, so nothing can be judged
          exercises/e01_tensors/merge_heads.py:1   def merge_heads(x:
          SyntaxError: '(' was never closed
          likely  the `(` of this line is never closed: its `)` is missing""",
    ),
    "error while importing": (
        "import torch\ntorch.nope\n",
        EXAMPLE,
        """\
        the file does not import, so nothing can be judged
          exercises/e01_tensors/merge_heads.py:2   torch.nope
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
          exercises/e01_tensors/merge_heads.py
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
          exercises/e01_tensors/merge_heads.py
          hint: kata hint merge_heads""",
    ),
    "a skip from inside the answer": (
        SOLUTION.replace("    batch, heads", "    import pytest\n\n    pytest.skip('no')\n    batch, heads"),
        EXAMPLE,
        """\
        merge_heads · The worked example of the statement comes out.
        your code raised Skipped: no
          exercises/e01_tensors/merge_heads.py:8   pytest.skip('no')
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
        (
            lambda x: torch.nn.Linear(2, 3).load_state_dict(
                {"weight": torch.ones(2, 3), "bias": torch.ones(3)}
            ),
            "your code's parameters and buffers have other shapes than they should\n"
            "  yours   weight [3, 2]\n"
            "  wanted  weight [2, 3]",
        ),
        (lambda x: x.nope(), "`.nope` is missing: what your code gave the check is float32[2]"),
        (
            lambda x: (x, 1).mean,
            "`.mean` is missing: what your code gave the check is tuple of 2 (float32[2], int 1)\n"
            "  likely  several things came back, where one tensor is wanted",
        ),
        (lambda x: None.mean, "the check could not use what your code gave it: AttributeError: 'NoneType'"),
        (lambda x: x[9], "the check could not use what your code gave it: IndexError: "),
    ],
)
def test_what_torch_says_below_a_check_is_told_in_words(run, says):
    with pytest.raises(Exception) as raised:
        run(torch.ones(2, requires_grad=True))
    assert unusable(raised.value).text.startswith(says)


@pytest.mark.parametrize(
    "yours, wanted, is_one",
    [
        ("float32[]", "float32[2, 2]   (rows, columns)", True),
        ("float32[]", "int 6", False),
        ("float32[]", "[1.5, 2.0]", False),
        ("float32[]", "float32[]", False),
        ("float32[2]", "float32[2, 2]", False),
    ],
)
def test_one_number_is_told_from_the_facts(yours, wanted, is_one):
    assert (
        failure_report.is_one_number(Feedback("wrong", (Fact("yours", yours), Fact("wanted", wanted))))
        is is_one
    )


SUITE_AT_FAULT = """
from grader.checks import expect_close
from grader.checks.contract import Contract
from grader.checks.contract.trial import Trial

def misnamed():
    expect_close(1, 1, name="x")

def incomplete():
    Trial(Contract("f(x)"), None, None).cases()

def of_the_answer():
    answer.merge_heads(1, heads=2)
"""


@pytest.mark.parametrize(
    ("check", "says"),
    [
        (
            "misnamed",
            "the check is at fault, not your code: TypeError: expect_close() got an unexpected keyword",
        ),
        ("incomplete", "the check is at fault, not your code: the contract of f(x) lacks inputs="),
        ("of_the_answer", "wrong signature: merge_heads() got an unexpected keyword argument 'heads'"),
    ],
)
def test_who_calls_a_helper_wrongly_is_told_so(request, check, says):
    answer = types.SimpleNamespace(merge_heads=lambda x: x)
    answer.merge_heads.__qualname__ = "merge_heads"
    scope = {"answer": answer}
    exec(SUITE_AT_FAULT, scope)
    call = pytest.CallInfo.from_call(scope[check], "call")
    told = failure_report.finding_of(call, request.node, EXERCISE, Answers(paths.EXERCISES))
    assert told.feedback.headline.startswith(says)
    assert ("test_feedback.py" in told.feedback.where.file) == (check != "of_the_answer")


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


def test_messages_of_torch_come_without_escape_codes():
    file = io.BytesIO()
    torch.save(torch.nn.ReLU(), file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError) as raised:
        torch.load(file, weights_only=True)
    assert "\x1b[1m" in str(raised.value)
    assert error_line(raised.value).replace("\n", "").isprintable()


def test_what_is_printed_is_kept_and_capped(pool):
    source = SOLUTION.replace("    batch, heads", "    print('x' * 10_000_000)\n    batch, heads")
    found = pool.judge_one(Job(EXERCISE, source.encode(), seed=0, mode="check"))
    printed = [found.printed, *(finding.printed for finding in found.checks.values())]
    assert all(len(text) <= 4000 for text in printed)
    assert any(text.startswith("xxx") for text in printed)


def test_the_words_that_name_a_mistake_are_asked_for():
    """The audit looks for these words in what is told of each wrong answer; this counts that it has to."""
    named = {
        e.slug: [s.says for s in specimens.read(e.file("specimens")) if isinstance(s, Wrong) and s.says]
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
        (lambda: torch.profiler.profile().key_averages(), "the schedule never came to an active step"),
        (lambda: torch.ones(()).backward(), "nothing that this is computed from requires a gradient"),
        (lambda: torch.ones(2, requires_grad=True).add_(1), "a parameter is changed while autograd records"),
        (lambda: torch.ones(1).expand(3).add_(2), "an expanded tensor is written to"),
        (lambda: torch.ones(2, device="meta").sum().item(), 'a tensor on "meta" has a shape and no numbers'),
        (lambda: torch.ones(5, 20) @ torch.ones(8, 3), "20 features meet 8: is a layer, or a matrix"),
        (lambda: torch.nn.BatchNorm1d(2)(torch.ones(1, 2)), "a batch norm is in training mode"),
        (
            lambda: F.cross_entropy(torch.ones(1, 3), torch.tensor([-1])),
            "padding is no class: `ignore_index=`",
        ),
        (lambda: F.cross_entropy(torch.ones(1, 3), torch.tensor([3])), "labels go from 0 to the number"),
        (
            lambda: torch.nn.Embedding(3, 2)(torch.tensor(3)),
            "a number is looked up that the table has no row",
        ),
        (lambda: 2 / object(), "a number on the left needs `__rtruediv__` of object"),
        (lambda: object() / 2, ""),
        (lambda: torch.ones(2).reshape(3), ""),
        (lambda: {}["x"], ""),
    ],
)
def test_errors_of_torch_have_a_likely_cause(run, likely):
    with pytest.raises(Exception) as raised:
        run()
    cause = cause_of_error(raised.value)
    assert cause.startswith(likely) and bool(cause) == bool(likely)


def test_what_the_statement_rules_out_is_a_broken_rule(request):
    def own_softmax(*functions):
        with forbid("softmax(x)", *functions):
            torch.ones(3).softmax(0)

    def kind(check):
        call = pytest.CallInfo.from_call(check, when="call")
        return failure_report.finding_of(call, request.node, EXERCISE, Answers(paths.EXERCISES)).feedback.kind

    assert kind(lambda: own_softmax("softmax")) == "rule"
    loops = lambda: expect_flat_cost(lambda n: lambda: [torch.ones(1) + 1 for _ in range(n)], "f(x)")  # noqa: E731
    assert kind(loops) == "rule"
    assert kind(lambda: expect_equal(1, 2, "f(x)")) == "values"
