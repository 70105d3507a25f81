"""What grades profile_top_ops: planted bottlenecks, which steps count, self time, shapes; marks, errors.

No time is judged as such: a self time lies between what was slept for and what passed around it.
"""

import time
from collections import Counter

import pytest
import torch
from torch.profiler import record_function

from grader.checks import expect_equal, expect_raises, expect_that
from grader.checks.cost.dispatch import is_followed

# torch warns of a schedule without warm-up, as it should
pytestmark = pytest.mark.filterwarnings("ignore:Profiler won't be using warmup")

EVERY = [torch.sin, torch.cos, torch.tan, torch.erf, torch.exp, torch.sqrt, torch.tanh, torch.neg]
"""An operation for each step, so that a row tells which step it is from."""
ATTEMPTS = 4
"""To name what takes ten times as long as all else: a busy machine may interrupt anything for long."""


def called(step, wait, warmup):
    """`step`, which is told its number, counted from the first active one."""
    number = -wait - warmup

    def numbered():
        nonlocal number
        number += 1
        return step(number - 1)

    return numbered


def without_marks(rows):
    """The rows but for the profiler's marks, which are fine print."""
    return [row for row in rows if not row.name.startswith(("ProfilerStep", "[memory]"))]


def asleep(label, seconds):
    with record_function(label):
        time.sleep(seconds)


class Slow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        asleep("slow gradient", 0.008)
        return grad * 2


LAYER, X, WEIGHT = torch.nn.Linear(700, 700), torch.ones(300, 700), torch.ones(64, requires_grad=True)
BOTTLENECKS = {
    "a layer": (lambda: LAYER(X), "aten::addmm"),
    "Python code": (lambda: asleep("tokenise", 0.008), "tokenise"),
    "a backward": (lambda: Slow.apply(WEIGHT).sum().backward(), "slow gradient"),
}


@pytest.mark.parametrize("name", BOTTLENECKS)
def test_bottleneck(answer, name):
    """Whatever takes most of the time is named first."""
    dear, wanted = BOTTLENECKS[name]

    def step():
        for _ in range(5):
            torch.ones(8, 8) @ torch.ones(8, 8)
        dear()

    found = []
    for _ in range(ATTEMPTS):
        if found[:1] != [wanted]:
            found = [row.name for row in answer.profile_top_ops(step, wait=1, warmup=1, active=2)]
    facts = {"yours": ", ".join(found[:4]), "wanted": wanted}
    if found[:1] == ["aten::linear"]:
        facts["likely"] = "sorted by total time, in which a call counts that of what it calls"
    expect_that(found[:1] == [wanted], f"the bottleneck, {name}, is not in the first row", **facts)


def expect_steps(answer, wait, warmup, active):
    """Fail unless the active steps are in the table, and no others."""
    ran = []

    def step(number):
        ran.append(number)
        EVERY[number + wait + warmup](torch.empty(3))
        torch.empty(3).view(3, 1)

    rows = without_marks(answer.profile_top_ops(called(step, wait, warmup), wait, warmup, active, top=99))
    call = f"profile_top_ops(step, {wait}, {warmup}, {active})"
    text = lambda numbers: ", ".join(map(str, numbers))  # noqa: E731
    everything = range(-wait - warmup, active)
    expect_equal(len(ran), len(everything), f"how often {call} calls step")
    names = {f"aten::{fn.__name__}": number for fn, number in zip(EVERY, everything, strict=False)}
    suspects = {
        "all steps count: there is no schedule": lambda: text(everything),
        "steps of the warm-up count as well": lambda: text(range(-warmup, active)),
        "profiler.step() belongs behind the step, not before it": lambda: text(range(-1, active - 1)),
        "the schedule begins again behind the last step, and forgets: repeat=1": lambda: "",
    }
    found = sorted(names[row.name] for row in rows if row.name in names)
    what = f"the steps in the table of {call}, numbered from the first active one"
    expect_equal(text(found), text(range(active)), what, suspects=suspects)
    calls = {row.name: row.calls for row in rows}
    expect_equal(calls.get("aten::empty"), 2 * active, f"the calls of aten::empty in {call}, two in a step")


@pytest.mark.parametrize("plan", [(1, 1, 3), (2, 1, 2), (1, 3, 2)], ids=str)
def test_which_steps_count(answer, plan):
    """The table holds all active steps, and nothing of those before."""
    expect_steps(answer, *plan)


def test_self_time(answer):
    """Time within inner operations and labels counts for those only; it is in microseconds."""
    passed = Counter()

    def step(number):
        if number == 0:
            passed.clear()
        begin = time.perf_counter()
        with record_function("outer"):
            time.sleep(0.002)
            inside = time.perf_counter()
            asleep("inner", 0.006)
            passed["inner"] += (time.perf_counter() - inside) * 1e6
        passed["outer"] += (time.perf_counter() - begin) * 1e6

    rows = {row.name: row for row in answer.profile_top_ops(called(step, 1, 1), 1, 1, 3)}
    expect_that({"inner", "outer"} <= rows.keys(), "a label has no row", yours=", ".join(rows))
    inner, outer = rows["inner"].self_us, rows["outer"].self_us
    expect_that(
        inner + outer < 1.05 * passed["outer"],
        "the self times of a label and of one within it are together more than the time that passed",
        yours=f"{outer:.0f} and {inner:.0f}",
        wanted=f"together at most {passed['outer']:.0f}",
        likely="the time within the inner one is counted twice: self time, not total time",
    )
    for name, mine, slept in (("inner", inner, 18_000), ("outer", outer, 6_000)):
        expect_that(
            0.9 * slept < mine < 1.05 * passed[name],
            f"{mine:.6g} is not the self time of the label {name!r} in microseconds",
            wanted=f"of 3 steps at least {slept}, which it sleeps, and at most {passed[name]:.0f}",
        )


@pytest.mark.parametrize("top", [1, 3])
def test_sorted_and_cut(answer, top):
    """The rows come by self time, the largest first, and at most `top` of them."""

    def step():
        for fn in EVERY:
            fn(torch.empty(2000))
        for label, seconds in (("third", 0.001), ("first", 0.009), ("second", 0.004)):
            asleep(label, seconds)

    rows = answer.profile_top_ops(step, 1, 1, 1, top)
    call = f"profile_top_ops(…, top={top})"
    expect_equal(len(rows), top, f"the number of rows of {call}")
    times = [round(row.self_us) for row in rows]
    expect_that(times == sorted(times)[::-1], f"{call} is not sorted by self_us", yours=str(times))
    if top == 1:  # one that is twice as long as all others
        expect_that(rows[0].self_us > 8_000, f"the row of {call} is not the largest", yours=rows[0].name)


def test_share(answer):
    """A share is of the sum of all self times, also of the rows that are cut off."""

    def step():
        asleep("read", 0.004)
        asleep("write", 0.004)

    rows = answer.profile_top_ops(step, 1, 1, 2, top=99)
    total = sum(row.self_us for row in rows)
    for row in rows:
        expect_that(
            row.self_us / total * 0.1 <= row.share < row.self_us / total + 1e-6,  # with or without marks
            f"wrong share of {row.name!r} in profile_top_ops(…, top=99)",
            yours=row.share,
            wanted=row.self_us / total,
        )
    (row,) = answer.profile_top_ops(step, 1, 1, 2, top=1)
    most = row.self_us / (row.self_us + 0.9 * 8_000)
    returned = "a share of the rows that are returned, not of all"
    expect_that(
        0 < row.share < most,
        "wrong share in profile_top_ops(…, top=1) of a step with two dear labels",
        yours=row.share,
        wanted=f"below {most:.3f}",
        **({"likely": returned} if 0.99 < row.share <= 1.0 else {}),
    )


def lists(shapes):
    return [list(shape) for shape in shapes]


def test_by_shape(answer):
    """With by_shape, the same operation on other shapes has a row of its own; without it, it has not."""
    large, small = torch.ones(50, 60), torch.ones(2, 3)

    def step():
        for _ in range(4):
            small @ small.T
        large @ large.T

    rows = answer.profile_top_ops(step, 1, 1, 2, 99, by_shape=True)
    products = {str(lists(row.shapes)): row.calls for row in rows if row.name == "aten::mm"}
    wanted = {"[[2, 3], [3, 2]]": 8, "[[50, 60], [60, 50]]": 2}
    expect_equal(products, wanted, "the calls of aten::mm by shapes, by_shape=True")
    rows = answer.profile_top_ops(step, 1, 1, 2, 99)
    products = sorted(row.calls for row in rows if row.name == "aten::mm")
    apart = {"each shape has a row of its own, and by_shape is False": lambda: [2, 8]}
    expect_equal(products, [10], "the calls of aten::mm, by_shape=False", suspects=apart)


@pytest.mark.fine
@pytest.mark.parametrize("plan", [(0, 0, 2), (0, 2, 1), (2, 0, 1)], ids=str)
def test_no_wait_or_warmup(answer, plan):
    """wait and warmup may be 0."""
    expect_steps(answer, *plan)


@pytest.mark.fine
def test_marks(answer):
    """The profiler's marks for the steps have no row."""
    rows = answer.profile_top_ops(lambda: torch.ones(3).sum(), 1, 1, 2, top=99)
    marks = [row.name for row in rows if row not in without_marks(rows)]
    expect_equal(marks, [], "the marks of the profiler among the rows")
    total = sum(row.share for row in rows)
    expect_that(abs(total - 1) < 1e-6, "the shares of all rows are not 1 together", yours=total)


@pytest.mark.fine
def test_no_shapes(answer):
    """Without by_shape, shapes is []."""
    (row,) = answer.profile_top_ops(lambda: torch.ones(3).sum(), 1, 1, 2, top=1)
    expect_equal(row.shapes, [], "shapes, by_shape=False")


@pytest.mark.fine
def test_errors(answer):
    """An error of a step reaches the caller, no step follows, and the profiler is off."""
    error, numbers = KeyError("no such batch"), []

    def step(number):
        numbers.append(number)
        torch.ones(2)
        if number == 0:
            raise error

    caught = None
    try:
        answer.profile_top_ops(called(step, 1, 1), 1, 1, 3)
    except NotImplementedError:
        raise
    except Exception as raised:
        caught = raised
    expect_that(caught is error, "another error than the step's", yours=repr(caught), wanted=repr(error))
    expect_equal(numbers[-1], 0, "the last step that is run")
    expect_that(not is_followed(), "the profiler is still on after an error")


@pytest.mark.fine
@pytest.mark.parametrize("options", [{"active": 0}, {"wait": -1}, {"warmup": -1}], ids=str)
def test_bad_input(answer, options):
    """Impossible schedules raise ValueError before any step is run."""
    ran = []
    call = f"profile_top_ops(step, **{options})"
    bad = lambda: answer.profile_top_ops(lambda: ran.append(1), **options)  # noqa: E731
    expect_raises((ValueError, AssertionError, RuntimeError), bad, call)
    expect_equal(ran, [], "the steps that are run in spite of bad input")


def counted(answer, gen, step, by_shape=False, steps=()):
    """Name, calls and shapes of all rows, in whatever order: how long they take differs from run to run."""
    wait, warmup, active = steps or torch.randint(1, 5, (3,), generator=gen).tolist()
    rows = answer.profile_top_ops(step, wait, warmup, active, top=999, by_shape=by_shape)
    rows = [(row.name, row.calls, *([lists(row.shapes)] if by_shape else [])) for row in without_marks(rows)]
    return sorted(rows)


def oracle(answer, gen):
    def products(gen):
        sizes = torch.randint(2, 60, (6, 3), generator=gen).tolist()
        times = torch.randint(1, 9, (6,), generator=gen).tolist()
        factors = [(torch.ones(a, b), torch.ones(b, c)) for a, b, c in sizes]

        def step():
            for count, (left, right) in zip(times, factors, strict=True):
                for _ in range(count):
                    torch.mm(left, right)

        return step

    def layer(gen):
        features, rows = torch.randint(2, 60, (2,), generator=gen).tolist()
        linear, x = torch.nn.Linear(features, 3), torch.ones(rows, features)
        return lambda: linear(x).square().sum().backward()

    def labels(gen):
        numbers = torch.randperm(99, generator=gen)[:6].tolist()
        times = torch.randint(1, 9, (6,), generator=gen).tolist()

        def step():
            for number, count in zip(numbers, times, strict=True):
                for _ in range(count):
                    with record_function(f"part {number} of the step"):
                        pass

        return step

    def without_calls(rows):
        return [(name, *shapes) for name, _, *shapes in rows]

    return {
        "six products, by shape": lambda gen: without_calls(
            counted(answer, gen, products(gen), by_shape=True)
        ),
        "the calls of six products, by shape": lambda gen: counted(answer, gen, products(gen), by_shape=True),
        "the calls of six products": lambda gen: counted(answer, gen, products(gen)),
        "a layer, forward and backward, by shape": lambda gen: counted(
            answer, gen, layer(gen), by_shape=True
        ),
        "six labels": lambda gen: without_calls(counted(answer, gen, labels(gen))),
        "the calls of six labels": lambda gen: counted(answer, gen, labels(gen)),
        "the calls of six labels, in one active step": lambda gen: counted(
            answer, gen, labels(gen), steps=(1, 1, 1)
        ),
    }
