"""What grades profile_top_ops: planted bottlenecks, which steps count, self time, shapes, errors.

No time is judged as such: a self time lies between what was slept for and what passed around it.
"""

import gc
import time
import weakref
from collections import Counter

import pytest
import torch
from torch.profiler import record_function

from grader.checks import expect_equal, expect_gradient, expect_raises, expect_that
from grader.checks.cost.dispatch import is_followed

# torch warns of a schedule without warm-up, as it should
pytestmark = pytest.mark.filterwarnings("ignore:Profiler won't be using warmup")

STEPS = [(1, 1, 3), (0, 0, 2), (2, 0, 1), (0, 2, 1), (3, 1, 2), (0, 1, 4)]
"""Of wait, warm-up and active."""
EVERY = [torch.sin, torch.cos, torch.tan, torch.erf, torch.exp, torch.sqrt, torch.tanh, torch.neg]
"""An operation for each step, so that a row tells which step it is from."""
ATTEMPTS = 4
"""To name what takes ten times as long as all else: a busy machine may interrupt anything for long."""


class Clock:
    """Labels that take at least `seconds`, and what passed around them, in microseconds."""

    def __init__(self):
        self.passed = Counter()

    def label(self, name, seconds=0.0, inner=None):
        begin = time.perf_counter()
        with record_function(name):
            time.sleep(seconds)
            if inner is not None:
                inner()
        self.passed[name] += (time.perf_counter() - begin) * 1e6


def called(step, wait, warmup):
    """`step`, which is told its number, counted from the first active one."""
    number = -wait - warmup

    def numbered():
        nonlocal number
        number += 1
        return step(number - 1)

    return numbered


def dear_sort():
    x = torch.linspace(0, 99, 300_000).sin()
    return lambda _: (torch.ones(8, 8) @ torch.ones(8, 8)).relu().sum(), lambda _: torch.sort(x)


def dear_layer():
    layer, x = torch.nn.Linear(700, 700), torch.ones(300, 700)
    return lambda _: torch.ones(50).cumsum(0).exp(), lambda _: layer(x)


def dear_cast():
    x = torch.ones(3_000_000)
    return lambda _: torch.ones(8, 8) @ torch.ones(8, 8), lambda _: x.to(torch.float64)


def dear_label():
    def read(_):
        with record_function("tokenise"):
            time.sleep(0.008)

    return lambda _: torch.ones(8, 8) @ torch.ones(8, 8), read


def dear_backward():
    x = torch.ones(64, requires_grad=True)

    class Slow(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            with record_function("slow gradient"):
                time.sleep(0.008)
            return grad * 2

    return lambda _: torch.ones(8, 8) @ torch.ones(8, 8), lambda _: Slow.apply(x).sum().backward()


def dear_beginning():
    def compile_first(number):
        with record_function("compile" if number < 0 else "run"):
            time.sleep(0.02 if number < 0 else 0.004)

    return lambda _: torch.ones(8, 8) @ torch.ones(8, 8), compile_first


BOTTLENECKS = {
    "a sort": (dear_sort, "aten::sort"),
    "a layer": (dear_layer, "aten::addmm"),
    "a cast": (dear_cast, "aten::copy_"),
    "Python code": (dear_label, "tokenise"),
    "a backward": (dear_backward, "slow gradient"),
    "the first steps, which do not count": (dear_beginning, "run"),
}


@pytest.mark.parametrize("name", BOTTLENECKS)
def test_bottleneck(answer, name):
    """Whatever takes most of the time is named first."""
    make, wanted = BOTTLENECKS[name]
    cheap, dear = make()

    def step(number):
        for _ in range(5):
            cheap(number)
        dear(number)

    found = []
    for _ in range(ATTEMPTS):
        if found[:1] != [wanted]:
            rows = answer.profile_top_ops(called(step, 1, 1), wait=1, warmup=1, active=2)
            found = [row.name for row in rows]
    expect_that(
        found[:1] == [wanted],
        f"the bottleneck, {name}, is not in the first row",
        yours=", ".join(found[:4]),
        wanted=wanted,
    )


@pytest.mark.parametrize("plan", STEPS, ids=str)
def test_which_steps_count(answer, plan):
    """The table holds all active steps, and nothing of those before."""
    wait, warmup, active = plan
    numbers = []

    def step(number):
        numbers.append(number)
        EVERY[number + wait + warmup](torch.empty(3))
        torch.empty(3).view(3, 1)

    rows = answer.profile_top_ops(called(step, wait, warmup), wait, warmup, active, top=99)
    call = f"profile_top_ops(step, {wait}, {warmup}, {active})"
    expect_equal(numbers, list(range(-wait - warmup, active)), f"the calls of step by {call}, numbered")
    wanted = {f"aten::{fn.__name__}": 1 for fn in EVERY[wait + warmup : wait + warmup + active]}
    wanted |= {"aten::empty": 2 * active, "aten::view": active}
    expect_equal({row.name: row.calls for row in rows}, wanted, f"the calls by name in {call}")
    expect_equal(len(rows), len(wanted), f"the number of rows of {call}")


def test_defaults(answer):
    """Without further arguments: one step to wait, one to warm up, three to count, ten rows."""
    numbers = []

    def step(number):
        numbers.append(number)
        for fn in [*EVERY, torch.floor, torch.ceil, torch.log]:
            fn(torch.empty(2 + number))

    rows = answer.profile_top_ops(called(step, 1, 1))
    expect_equal(numbers, [-2, -1, 0, 1, 2], "the calls of step, numbered from the first active one")
    expect_equal(
        [row.calls % 3 for row in rows], [0] * 10, "the calls of each row, beyond multiples of three"
    )


def test_self_time(answer):
    """Time within inner operations and labels counts for those only; it is in microseconds."""
    clock = Clock()

    def step(number):
        if number < 0:
            clock.passed.clear()
        clock.label("outer", 0.002, lambda: clock.label("inner", 0.006))

    rows = {row.name: row for row in answer.profile_top_ops(called(step, 1, 0), 1, 0, 3)}
    for name in ("outer", "inner"):
        expect_that(name in rows, f"the label {name!r} has no row", yours=", ".join(rows))
    inner, outer = rows["inner"].self_us, rows["outer"].self_us
    slept = {"inner": 18_000, "outer": 6_000}
    for name, mine in (("inner", inner), ("outer", outer)):
        expect_that(
            0.9 * slept[name] < mine < 1.05 * clock.passed[name],
            f"{mine:.6g} is not the self time of the label {name!r} in microseconds",
            wanted=f"at least {slept[name]}, which it sleeps, and at most {clock.passed[name]:.0f}",
        )
    expect_that(
        inner + outer < 1.05 * clock.passed["outer"],
        "the self times of a label and of one within it are together more than the time that passed",
        yours=f"{outer:.0f} and {inner:.0f}",
        wanted=f"together at most {clock.passed['outer']:.0f}",
        likely="the time within the inner one is counted twice",
    )


def test_sorted_and_cut(answer):
    """The rows come by self time, the largest first, and at most `top` of them."""

    def step(_):
        for fn in EVERY:
            fn(torch.empty(2000))
        with record_function("third"):
            time.sleep(0.001)
        with record_function("first"):
            time.sleep(0.009)
        with record_function("second"):
            time.sleep(0.004)

    for top in (1, 2, 5, 11, 12, 50):
        rows = answer.profile_top_ops(lambda: step(0), 0, 0, 1, top)
        call = f"profile_top_ops(…, top={top})"
        expect_equal(len(rows), min(top, len(EVERY) + 4), f"the number of rows of {call}")
        times = [row.self_us for row in rows]
        expect_that(
            times == sorted(times, reverse=True),
            f"{call} is not sorted",
            yours=str([round(t) for t in times]),
        )
        if top == 1:  # one that is five times as long as all others
            expect_that(rows[0].self_us > 8_000, f"the row of {call} is not the largest", yours=rows[0].name)


def test_share(answer):
    """A share is of the sum of all self times, also of the rows that are cut off."""
    clock = Clock()

    def step():
        clock.label("read", 0.004)
        clock.label("write", 0.004)
        torch.ones(3).sum()

    rows = answer.profile_top_ops(step, 0, 0, 2, top=99)
    total = sum(row.self_us for row in rows)
    for row in rows:
        expect_that(
            isinstance(row.share, float) and abs(row.share - row.self_us / total) < 1e-6,
            f"wrong share of {row.name!r} in profile_top_ops(…, top=99)",
            yours=row.share,
            wanted=row.self_us / total,
        )
    clock.passed.clear()
    (row,) = answer.profile_top_ops(step, 0, 0, 2, top=1)
    most = clock.passed[row.name] / (clock.passed[row.name] + 0.9 * 8_000)
    expect_that(
        0 < row.share < most,
        "wrong share in profile_top_ops(…, top=1) of a step with two dear labels",
        yours=row.share,
        wanted=f"below {most:.3f}",
        likely="a share of the rows that are returned, not of all",
    )


@pytest.mark.parametrize("top", [99, 1])
def test_by_shape(answer, top):
    """With by_shape, the same operation on other shapes has a row of its own."""
    large, small = torch.ones(500, 600), torch.ones(2, 3)

    def step():
        for _ in range(4):
            small @ small.T
        small * 2
        with record_function("product"):
            large @ large.T

    rows = answer.profile_top_ops(step, 1, 1, 2, top, by_shape=True)
    if top == 1:
        wanted = ("aten::mm", [[500, 600], [600, 500]])
        for _ in range(ATTEMPTS):
            if (rows[0].name, _lists(rows[0].shapes)) != wanted:
                rows = answer.profile_top_ops(step, 1, 1, 2, top, True)
        expect_equal((rows[0].name, _lists(rows[0].shapes)), wanted, "the first row, by_shape=True")
        return
    products = {str(_lists(row.shapes)): row.calls for row in rows if row.name == "aten::mm"}
    wanted = {"[[2, 3], [3, 2]]": 8, "[[500, 600], [600, 500]]": 2}
    expect_equal(products, wanted, "the calls of aten::mm by shapes, by_shape=True")
    scaled = [(row.calls, _lists(row.shapes)) for row in rows if row.name == "aten::mul"]
    expect_equal(scaled, [(2, [[2, 3], []])], "calls and shapes of aten::mul with a number, by_shape=True")
    labels = [(row.calls, _lists(row.shapes)) for row in rows if row.name == "product"]
    expect_equal(labels, [(2, [])], "calls and shapes of a label, by_shape=True")

    rows = answer.profile_top_ops(step, 1, 1, 2, top, False)
    products = [(row.calls, _lists(row.shapes)) for row in rows if row.name == "aten::mm"]
    expect_equal(products, [(10, [])], "calls and shapes of aten::mm, by_shape=False")


def _lists(shapes):
    return [list(shape) for shape in shapes]


def test_backward(answer):
    """Steps may train: backward passes are in the table, and gradients arrive."""
    weight = torch.ones(3, 2, requires_grad=True)

    def step():
        (torch.ones(4, 3) @ weight).sum().backward()

    rows = answer.profile_top_ops(step, 1, 2, 3, top=99)
    calls = {row.name: row.calls for row in rows}
    expect_equal(calls.get("aten::mm"), 6, "the calls of aten::mm in three steps with a backward")
    for name in ("MmBackward0", "autograd::engine::evaluate_function: MmBackward0"):
        expect_equal(calls.get(name), 3, f"the calls of {name} in three steps")
    expect_gradient(weight.grad, torch.full((3, 2), 24.0), "the weight after six steps")


def test_names(answer):
    """Labels keep their names, whatever these look like."""
    names = ["stage#1", "stage#2", "Profiler overhead", "step 3", "aten", "[io] read"]

    def step():
        for name in 2 * names:
            with record_function(name):
                pass

    rows = answer.profile_top_ops(step, 1, 1, 2)
    found = {row.name: row.calls for row in rows}
    expect_equal(
        found, dict.fromkeys(names, 4), "the calls by name, of labels that each of two steps sets twice"
    )


def test_results_are_dropped(answer):
    """What the steps return does not pile up."""
    results, alive = [], []

    def step():
        if sum(ref() is not None for ref in results) > 1:
            gc.collect()  # what only hangs in a reference cycle is not kept
        alive.append(sum(ref() is not None for ref in results))
        result = torch.zeros(3)
        results.append(weakref.ref(result))
        return result

    answer.profile_top_ops(step, 1, 1, 3)
    expect_that(
        max(alive) <= 1,
        "results of earlier steps are still alive",
        yours=f"{alive} of them as the steps are called",
        wanted="at most 1, of the step before",
    )


def test_nothing_runs(answer):
    """A step without operations gives an empty table."""
    ran, state = [], torch.get_rng_state()
    rows = answer.profile_top_ops(lambda: ran.append(1), 2, 3, 20)
    expect_equal(rows, [], "profile_top_ops of a step that does nothing")
    expect_equal(len(ran), 25, "the calls of step by profile_top_ops(step, 2, 3, 20)")
    expect_that(torch.equal(torch.get_rng_state(), state), "profile_top_ops draws or seeds random numbers")


def test_calls_do_not_mix(answer):
    """Each call has a table of its own."""
    for fn in EVERY[:3]:
        rows = answer.profile_top_ops(lambda fn=fn: fn(torch.empty(3)), 0, 1, 2)
        found = {row.name: row.calls for row in rows}
        wanted = {f"aten::{fn.__name__}": 2, "aten::empty": 2}
        expect_equal(found, wanted, "the calls by name, of the later of two profiles")


@pytest.mark.parametrize("at", [-2, -1, 0, 2])
def test_errors(answer, at):
    """An error of a step reaches the caller, no step follows, and the profiler is off."""
    errors = {0: KeyboardInterrupt(), 2: StopIteration("no more batches")}
    error, numbers = errors.get(at, KeyError("no such batch")), []

    def step(number):
        numbers.append(number)
        torch.ones(2)
        if number == at:
            raise error

    caught = None
    try:
        answer.profile_top_ops(called(step, 1, 1), 1, 1, 3)
    except NotImplementedError:
        raise
    except BaseException as raised:
        caught = raised
    expect_that(caught is error, "another error than the step's", yours=repr(caught), wanted=repr(error))
    expect_equal(numbers[-1], at, "the last step that is run")
    expect_that(not is_followed(), "the profiler is still on after an error")
    with torch.profiler.profile() as profiler:
        torch.ones(3).sum()
    expect_that(
        any(a.key == "aten::sum" for a in profiler.key_averages()),
        "another profile, after an error, sees nothing",
    )


def test_bad_input(answer):
    """Impossible schedules and tables raise ValueError before any step is run."""
    ran = []
    for options in (
        {"active": 0},
        {"active": -1},
        {"wait": -1},
        {"warmup": -1},
        {"warmup": -2, "wait": 3},
        {"top": 0},
        {"top": -3},
    ):
        call = f"profile_top_ops(step, **{options})"
        expect_raises(ValueError, lambda o=options: answer.profile_top_ops(lambda: ran.append(1), **o), call)
    expect_equal(ran, [], "the steps that are run in spite of bad input")


def counted(answer, gen, step, **options):
    """Name, calls and shapes of all rows, in whatever order: how long they take differs from run to run."""
    wait, warmup, active = torch.randint(1, 5, (3,), generator=gen).tolist()
    rows = answer.profile_top_ops(step, wait, warmup, active, top=999, **options)
    return sorted((row.name, row.calls, _lists(row.shapes)) for row in rows)


def oracle(answer, gen):
    sizes = torch.randint(2, 60, (6, 3), generator=gen).tolist()
    times = torch.randint(1, 9, (6,), generator=gen).tolist()
    factors = [(torch.ones(a, b), torch.ones(b, c)) for a, b, c in sizes]
    layer, x = torch.nn.Linear(*sizes[0][:2]), torch.ones(sizes[0][2], sizes[0][0])

    def multiply():
        for count, (left, right) in zip(times, factors, strict=True):
            for _ in range(count):
                torch.mm(left, right)

    def train():
        layer(x).square().sum().backward()

    def labels():
        for number, count in enumerate(times):
            for _ in range(count):
                with record_function(f"part {number} of the step"):
                    pass

    return {
        "six products of different sizes, by shape": counted(answer, gen, multiply, by_shape=True),
        "a layer, forward and backward": counted(answer, gen, train),
        "a layer, forward and backward, by shape": counted(answer, gen, train, by_shape=True),
        "six labels": counted(answer, gen, labels),
    }
