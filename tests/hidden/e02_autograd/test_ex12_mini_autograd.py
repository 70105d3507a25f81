"""What grades mini_autograd: operations, reuse, random graphs against torch, depth, cost, plain floats."""

import math
import sys

import torch

from grader.checks import count_operations, count_steps, expect_close, expect_equal, expect_that

LIMIT = sys.getrecursionlimit()
AGAIN = "grad held before the call is passed on with it"

OPERATIONS = {
    "x + y": lambda x, y: x + y,
    "x - y": lambda x, y: x - y,
    "x * y": lambda x, y: x * y,
    "x / y": lambda x, y: x / y,
    "x + 3": lambda x, y: x + 3,
    "3 + x": lambda x, y: 3 + x,
    "x - 3": lambda x, y: x - 3,
    "3.5 - x": lambda x, y: 3.5 - x,
    "x * 3": lambda x, y: x * 3,
    "-0.5 * x": lambda x, y: -0.5 * x,
    "x / 4": lambda x, y: x / 4,
    "4 / x": lambda x, y: 4 / x,
    "-x": lambda x, y: -x,
    "x ** 3": lambda x, y: x**3,
    "x ** 1": lambda x, y: x**1,
    "x ** -2": lambda x, y: x**-2,
    "x ** -1": lambda x, y: x**-1,
    "(x * x) ** -0.5": lambda x, y: (x * x) ** -0.5,
    "x ** 2.0": lambda x, y: x**2.0,
    "(x * x) ** 0.5": lambda x, y: (x * x) ** 0.5,
    "(x * x) ** 1.0005": lambda x, y: (x * x) ** 1.0005,
    "x ** 0": lambda x, y: x**0,
    "x.exp()": lambda x, y: x.exp(),
    "(x * x).log()": lambda x, y: (x * x).log(),
    "x.tanh()": lambda x, y: x.tanh(),
    "x.relu()": lambda x, y: x.relu(),
    "x + x": lambda x, y: x + x,
    "x - x": lambda x, y: x - x,
    "x * x": lambda x, y: x * x,
    "x / x": lambda x, y: x / x,
    "x + 0": lambda x, y: x + 0,
    "0 + x": lambda x, y: 0 + x,
    "x * 1": lambda x, y: x * 1,
}


STEPS = [
    lambda x, y: x + y,
    lambda x, y: (x * y).tanh(),
    lambda x, y: x - 2 * y,
    lambda x, y: x / (y * y + 1),
    lambda x, y: (x * x + y.tanh() + 2).log(),
    lambda x, y: (1 - y).relu() * 0.5 + x,
    lambda x, y: 1.5 / (y.tanh().exp() + 1) - x,
    lambda x, y: -(x.tanh() ** 3) + y,
]


def numbers(values):
    """Numbers as a tensor, an int like a float: test_plain_floats tells them apart."""
    for v in values:
        expect_that(isinstance(v, (int, float)), "data or grad is no number", yours=v, wanted="a float")
    return torch.tensor(values, dtype=torch.float64)


def doubles(*values):
    return torch.tensor(values, dtype=torch.float64)


def leaves(answer, data):
    """The same numbers as Values and as torch's scalars."""
    mine = [answer.Value(number) for number in data]
    return mine, [torch.tensor(number, dtype=torch.float64, requires_grad=True) for number in data]


def grads(tensors):
    return numbers([t.grad.item() if t.grad is not None else 0.0 for t in tensors])


def expect_same(mine, theirs, what):
    """Values and torch's scalars agree, in numbers and gradients."""
    data = numbers([t.item() for t in theirs])
    # Shares of a gradient may cancel: x / x has 1 / x - 1 / x, each rounded in its own way.
    expect_close(numbers([v.data for v in mine]), data, f"the data of {what}", scale=100.0)
    expect_close(numbers([v.grad for v in mine]), grads(theirs), f"the grad of {what}", scale=100.0)


def test_each_operation(answer, gen):
    """Every operation has the right value and the right derivatives, also with one value used twice."""
    for name, fn in OPERATIONS.items():
        for x, y in [(0.7, -1.3), (-1.9, 0.4), (0.3 + torch.rand((), generator=gen).item(), 2.0)]:
            (a, b), (s, t) = leaves(answer, (x, y))
            mine, theirs = fn(a, b), fn(s, t)
            expect_that(mine is not a and mine is not b, f"{name} is x itself, not a new Value")
            mine.backward()
            theirs.backward()
            expect_same([a, b], [s, t], f"x and y after ({name}).backward(), x = {x:.2f} and y = {y:.2f}")
            wanted = doubles(theirs.item())
            expect_close(numbers([mine.data]), wanted, f"the data of {name}, x = {x:.2f} and y = {y:.2f}")


def test_at_zero(answer):
    """At 0, relu and x ** 0 have derivative 0, and powers of 1 and more have theirs."""
    for name, fn, slope in [
        ("x.relu()", lambda x: x.relu(), 0.0),
        ("x ** 0", lambda x: x**0, 0.0),
        ("x ** 0.0", lambda x: x**0.0, 0.0),
        ("x ** 1", lambda x: x**1, 1.0),
        ("x ** 2", lambda x: x**2, 0.0),
        ("x * 0 + x", lambda x: x * 0 + x, 1.0),
    ]:
        x = answer.Value(0.0)
        fn(x).backward()
        expect_close(numbers([x.grad]), doubles(slope), f"x.grad after ({name}).backward() at x = 0")


def test_large_numbers(answer):
    """Far from 0, where exp(x) is beyond any float, tanh is 1 or -1, and flat; near it, log is steep."""
    for name, fn, x in [
        ("x.exp()", lambda x: x.exp(), 300.0),
        ("x.relu()", lambda x: x.relu(), 1e-12),
        ("x ** 0.5", lambda x: x**0.5, 1e-16),
        ("x ** -3", lambda x: x**-3, -20.0),
        ("10**12 + x", lambda x: 10**12 + x, -1e9),
        ("x * 1e12", lambda x: x * 1e12, 3.0),
    ]:
        (mine,), (theirs,) = leaves(answer, (x,))
        results = fn(mine), fn(theirs)
        for result in results:
            result.backward()
        for what, number, right in [
            ("data", results[0].data, results[1].item()),
            ("derivative", mine.grad, theirs.grad.item()),
        ]:
            expect_close(numbers([number]), doubles(right), f"the {what} of {name} at x = {x}")
    result = answer.Value(12.0).tanh()
    expect_close(numbers([result.data]), doubles(12.0).tanh(), "the data of x.tanh() at x = 12")
    value = answer.Value(1e-40)
    result = value.log()
    result.backward()
    found, wanted = numbers([result.data, value.grad / 1e40]), doubles(-92.10340371976183, 1.0)
    expect_close(found, wanted, "the data of x.log(), and x.grad / 1e40, at x = 1e-40")
    value = answer.Value(30.0)
    result = value.exp()
    result.backward()
    found, wanted = numbers([result.data, value.grad]), doubles(30.0, 30.0).exp()
    expect_close(found, wanted, "the data of x.exp(), and x.grad, at x = 30")
    for x, data in [(800.0, 1.0), (-800.0, -1.0)]:
        value = answer.Value(x)
        result = value.tanh()
        result.backward()
        found = numbers([result.data, value.grad])
        expect_close(found, doubles(data, 0.0), f"the data of x.tanh(), and x.grad, at x = {x}")


def random_program(gen, steps):
    """Steps of an operation and two operands, which are results of earlier steps: diamonds and reuse."""
    draw = lambda most: int(torch.randint(most, (), generator=gen))  # noqa: E731
    return [(draw(len(STEPS)), draw(3 + step), max(0, 2 + step - draw(3))) for step in range(steps)]


def run(program, values):
    """All results of a program, for Values or for torch's scalars."""
    values = list(values)
    for kind, i, j in program:
        values.append(STEPS[kind](values[i], values[j]))
    return values


def test_random_graphs(answer, gen):
    """In random graphs with much reuse, every value has the gradient that torch finds."""
    for steps in (4, 8, 12, 12, 12):
        program = random_program(gen, steps)
        mine, theirs = (run(program, v) for v in leaves(answer, torch.randn(3, generator=gen).tolist()))
        for tensor in theirs:
            tensor.retain_grad()
        mine[-1].backward()
        theirs[-1].backward()
        expect_same(mine, theirs, f"all values of a graph of {steps} steps")


def test_long_and_short_way(answer):
    """A value that is reached on a short and on a long way gets both shares before it passes them on."""
    for order in ("short + long", "long + short"):
        (a,), (s,) = leaves(answer, [0.5])
        results = []
        for x in (a, s):
            shared = x * 3
            long = ((shared.tanh() * 2).exp() + 1) * shared
            results.append(shared + long if order == "short + long" else long + shared)
            results[-1].backward()
        expect_same([a], [s], f"x, which is reached as {order}")


def test_backward_from_a_leaf(answer):
    """A value that was not computed from anything has a derivative too, by itself: 1."""
    a, b = answer.Value(2.0), answer.Value(3.0)
    beside = a * b
    a.backward()
    found = numbers([v.grad for v in (a, b, beside)])
    expect_close(found, doubles(1.0, 0.0, 0.0), "the grad of a, b and a * b after a.backward()")
    a.backward()
    expect_close(numbers([a.grad]), doubles(2.0), "a.grad after a second a.backward()")


def test_backward_adds(answer):
    """backward() adds: two calls give twice the derivative, and results that share a part add up."""
    a, b = answer.Value(2.0), answer.Value(3.0)
    c = a * b
    d = c * c + a
    suspects = {  # of the second call
        f"what {AGAIN}": lambda: doubles(183.0, 120.0, 48.0, 2.0),
        f"the result's grad is set to 1, and what {AGAIN}": lambda: doubles(146.0, 96.0, 36.0, 1.0),
        "a second backward() reaches the result alone": lambda: doubles(37.0, 24.0, 12.0, 2.0),
    }
    for calls in (1, 2):
        d.backward()
        wanted = doubles((2 * 6 * 3 + 1) * calls, 2 * 6 * 2 * calls, 12.0 * calls, 1.0 * calls)
        found = numbers([v.grad for v in (a, b, c, d)])
        call = f"the grad of a, b, c = a * b and d = c * c + a after {calls} of d.backward()"
        expect_close(found, wanted, call, suspects=suspects)

    a, b = answer.Value(2.0), answer.Value(3.0)
    c = a * b
    first, second = c * 5, c + b
    first.backward()
    second.backward()
    wanted = doubles(5 * 3 + 3, 5 * 2 + 2 + 1, 6.0, 1.0, 1.0)
    found = numbers([v.grad for v in (a, b, c, first, second)])
    expect_close(
        found, wanted, "the grad of a, b, c = a * b, c * 5 and c + b after backward() of the last two"
    )

    a = answer.Value(2.0)
    c = a * 3
    d = c + c * 5
    for result in (c, d, c):  # the inner one before and after the outer one
        result.backward()
    found, wanted = numbers([v.grad for v in (a, c, d)]), doubles(3.0 + 18 + 3, 1.0 + 6 + 1, 1.0)
    expect_close(found, wanted, "the grad of a, c = a * 3, d = c + c * 5 after backward() of c, d and c")


def test_old_gradients(answer):
    """What stands in a grad before is kept in the sum, and goes nowhere else; it may be set back to 0."""
    a = answer.Value(2.0)
    b = a * 3
    c = b * 5
    a.grad, b.grad, c.grad = 100.0, 1000.0, 10000.0
    c.backward()
    found = numbers([v.grad for v in (a, b, c)])
    call = "the grad of a, b = a * 3 and c = b * 5, old ones kept"
    suspects = {
        f"what {AGAIN}": lambda: doubles(153115.0, 51005.0, 10001.0),
        "the old ones are cleared": lambda: doubles(15.0, 5.0, 1.0),
    }
    expect_close(found, doubles(115.0, 1005.0, 10001.0), call, suspects=suspects)
    a.grad = b.grad = c.grad = 0.0
    c.backward()
    found = numbers([v.grad for v in (a, b, c)])
    expect_close(
        found, numbers([15.0, 5.0, 1.0]), "the grad of a, b and c, set to 0 before the second backward()"
    )
    a.grad, b.grad = 0.0, math.inf
    c.backward()
    expect_close(numbers([a.grad]), numbers([15.0]), "the grad of a, where inf stood in that of b = a * 3")


def test_others_are_left_alone(answer):
    """Values that the result does not depend on keep their grad, and no operation changes its operands."""
    a, b = answer.Value(2.0), answer.Value(2.0)
    behind, beside = (a * b).exp(), b * 7
    c = a * 3 + 1
    before = a
    a += 1
    expect_that(a is not before, "x += 1 changes x itself: each operation gives a new Value")
    c.backward()
    found = numbers([v.grad for v in (before, b, behind, beside, a)])
    expect_close(found, doubles(3.0, 0, 0, 0, 0), "the grad of a, b and results beside a * 3 + 1")
    expect_close(numbers([before.data, b.data]), doubles(2.0, 2.0), "the data of a and b")


def test_equal_numbers(answer):
    """Values with equal numbers are different values."""
    values = [answer.Value(1.0) for _ in range(4)]
    expect_equal(
        [values.count(v) for v in values], [1] * 4, "how often each of four values of 1.0 is in a list"
    )
    total = sum(v * (v * (i + 1)) for i, v in enumerate(values))
    total.backward()
    wanted = doubles(*(2.0 * (i + 1) for i in range(4)))
    expect_close(numbers([v.grad for v in values]), wanted, "the grad of four values of 1.0 in a sum")


def test_plain_floats(answer):
    """data and grad are Python floats, whatever numbers go in."""
    x = answer.Value(3)
    y = (x * 2 + 1) ** 2 - 1
    y.backward()
    for name, value in [("Value(3)", x), ("(x * 2 + 1) ** 2 - 1", y)]:
        expect_equal(
            (type(value.data), type(value.grad)), (float, float), f"types of data and grad of {name}"
        )
    expect_equal(type(answer.Value(1).grad), float, "the type of the first grad")
    expect_close(
        numbers([y.data, x.grad]), numbers([48.0, 28.0]), "y.data and x.grad, y = (x * 2 + 1) ** 2 - 1"
    )


def test_deep_chain(answer, monkeypatch):
    """Ten thousand operations in a row work, at Python's own recursion limit."""
    x = answer.Value(0.3)
    y, wanted = x, 1.0
    for _ in range(5000):
        y, wanted = y * -0.5 + x, -0.5 * wanted + 1
    raised = []
    monkeypatch.setattr(sys, "setrecursionlimit", raised.append)
    try:
        y.backward()
    except RecursionError:
        if raised:
            expect_equal(raised[0], LIMIT, "what backward sets Python's recursion limit to")
        raise
    expect_close(numbers([x.grad]), doubles(wanted), "x.grad after 5000 times y = y * -0.5 + x")
    expect_equal(sys.getrecursionlimit(), LIMIT, "Python's recursion limit")


def test_cost(answer):
    """The cost grows with the number of operations, not of paths, which each step from y to y doubles."""

    def make(n, step):
        def doubled():
            x = answer.Value(1.0)
            y = x
            for _ in range(n):
                y = step(y)
            y.backward()
            grads.append(x.grad)

        return doubled

    grads = []
    for name, step in [
        ("y = y + y", lambda y: y + y),
        ("y = y + y * 1", lambda y: y + y * 1),
        ("y = y * 1 + y", lambda y: y * 1 + y),
    ]:
        make(5, step)()
        few, many = count_steps(make(5, step)), count_steps(make(10, step))
        expect_close(numbers(grads[-1:]), doubles(1024.0), f"x.grad after ten times {name}")
        expect_that(
            many <= 2.8 * few,
            "the cost of backward grows with the number of paths",
            yours=f"{few} Python steps for 5 times {name}, {many} for 10 times",
            wanted="about twice as many for twice as many operations",
            likely="a value passes its gradient on several times, not once when all its uses are in",
        )
    steps = {}
    for count in (0, 300):
        x = answer.Value(1.0)
        others = [x * 2 + answer.Value(3.0) for _ in range(count)]
        y = x + x
        for _ in range(4):
            y = y + y
        steps[len(others)] = count_steps(y.backward)
    expect_that(
        steps[300] < steps[0] + 300,
        "the cost of backward grows with what else was computed",
        yours=f"{steps[0]} Python steps for 5 times y = y + y, {steps[300]} next to 300 other results",
        wanted="the same, whatever other values there are",
        likely="backward walks through a list of all values, or of all operations",
    )


def test_torch_takes_no_part(answer):
    """The engine is plain Python: torch does not do its work."""

    def work():
        x = answer.Value(0.5)
        (x * 2 + x.exp() / x.tanh()).relu().log().backward()

    expect_equal(sum(count_operations(work).values()), 0, "the number of torch's operations")


def oracle(answer, gen):
    found = []
    for steps in (6, 12):
        program = random_program(gen, steps)
        values = run(program, [answer.Value(x) for x in torch.randn(3, generator=gen).tolist()])
        values[-1].backward()
        values[-2].backward()
        found.append([[v.data for v in values], [v.grad for v in values]])
    return found
