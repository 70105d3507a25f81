"""What grades mini_autograd: operations, reuse, random graphs against torch, cost; old gradients, depth."""

import sys

import pytest
import torch

from grader.checks import count_operations, count_steps, expect_close, expect_equal, expect_that

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
    "x ** -2": lambda x, y: x**-2,
    "(x * x) ** 0.5": lambda x, y: (x * x) ** 0.5,
    "x.exp()": lambda x, y: x.exp(),
    "(x * x).log()": lambda x, y: (x * x).log(),
    "x.tanh()": lambda x, y: x.tanh(),
    "x.relu()": lambda x, y: x.relu(),
    "x + x": lambda x, y: x + x,
    "x * x": lambda x, y: x * x,
}
ONE_USE = "each use of x adds to its grad: this is the share of one"
POWER = "x ** n has the slope n * x ** (n - 1)"
SLIPS = {
    "x + x": (ONE_USE, lambda x: 1.0),
    "x * x": (ONE_USE, lambda x: x),
    "x ** 3": (POWER, lambda x: 3 * x**3),
    "x ** -2": (POWER, lambda x: -2 * x**-2),
    "x.tanh()": ("tanh has the slope 1 - tanh(x)²", lambda x: 1 - x * x),
}
"""What people take for the slope, and what is right."""

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


def numbers(*values):
    """Numbers as a tensor, an int like a float: test_plain_floats tells them apart."""
    for v in values:
        expect_that(isinstance(v, (int, float)), "data or grad is no number", yours=v, wanted="a float")
    return torch.tensor(values, dtype=torch.float64)


def leaves(answer, data):
    """The same numbers as Values and as torch's scalars."""
    theirs = [torch.tensor(number, dtype=torch.float64, requires_grad=True) for number in data]
    return [answer.Value(number) for number in data], theirs


def expect_same(mine, theirs, what, suspects=None):
    """Values and torch's scalars agree, in numbers and gradients."""
    data = numbers(*(t.item() for t in theirs))
    expect_close(numbers(*(v.data for v in mine)), data, f"the data of {what}", scale=100.0)
    wanted = numbers(*(0.0 if t.grad is None else t.grad.item() for t in theirs))
    yours = numbers(*(v.grad for v in mine))
    expect_close(yours, wanted, f"the grad of {what}", scale=100.0, suspects=suspects)


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


DOUBLINGS = [lambda y: y + y, lambda y: y + y.tanh(), lambda y: y.tanh() + y]


def repeated(answer, step, times):
    y = answer.Value(1.0)
    for _ in range(times):
        y = step(y)
    return y


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_operation(answer, gen, name):
    """Every operation has the right value and the right derivatives."""
    for x, y in [(0.7, -1.3), (-1.9, 0.4), (0.3 + torch.rand((), generator=gen).item(), 2.0)]:
        mine, theirs = leaves(answer, (x, y))
        results = [OPERATIONS[name](*given) for given in (mine, theirs)]
        for result in results:
            result.backward()
        at = f"at x = {x:.2f} and y = {y:.2f}"
        expect_close(numbers(results[0].data), numbers(results[1].item()), f"the data of {name} {at}")
        told, slope = SLIPS.get(name, ("", None))
        suspects = {told: lambda x=x, slope=slope: numbers(slope(x), 0.0)} if slope else None
        expect_same(mine, theirs, f"x and y after ({name}).backward() {at}", suspects)


def test_relu_at_zero(answer):
    """At 0, relu has the derivative 0."""
    x = answer.Value(0.0)
    x.relu().backward()
    call, likely = "x.grad after x.relu().backward() at x = 0", "the slope is 1 above 0 alone: >, not >="
    expect_that(x.grad != 1, f"wrong {call}", yours="1", wanted="0", likely=likely)
    expect_close(numbers(x.grad), numbers(0.0), call)


def test_random_graphs(answer, gen):
    """In random graphs with much reuse, every value has the gradient that torch finds."""
    for steps in (4, 8, 12, 12):
        program = random_program(gen, steps)
        data = torch.randn(3, generator=gen).tolist()
        mine, theirs = (run(program, values) for values in leaves(answer, data))
        for tensor in theirs:
            tensor.retain_grad()
        mine[-1].backward()
        theirs[-1].backward()
        expect_same(mine, theirs, f"all values of a graph of {steps} steps")


def test_long_and_short_way(answer):
    """A value that is reached on a short and on a long way gets both shares before it passes them on."""
    for order in ("short + long", "long + short"):
        mine, theirs = leaves(answer, [0.5])
        for (x,) in (mine, theirs):
            shared = x * 3
            long = ((shared.tanh() * 2).exp() + 1) * shared
            (shared + long if order == "short + long" else long + shared).backward()
        early = {  # where each operation is right, nothing else is left
            "it passes its gradient on before all its uses have added theirs": lambda mine=mine: numbers(
                *(v.grad for v in mine)
            )
        }
        expect_same(mine, theirs, f"x, which is reached as {order}", early)


def test_two_results(answer):
    """Two results that use the same values add up there; nothing else gets a gradient."""
    a, b = answer.Value(2.0), answer.Value(3.0)
    first, second, beside = a * b, a + b * b, (a * b).exp()
    first.backward()
    second.backward()
    suspects = {"the second backward() replaces what the first has found": lambda: numbers(1.0, 6.0, 0.0)}
    call = "the grad of a, b and (a * b).exp() after backward() of a * b and of a + b * b"
    yours = numbers(a.grad, b.grad, beside.grad)
    expect_close(yours, numbers(4.0, 8.0, 0.0), call, suspects=suspects)


def test_cost(answer):
    """The cost of backward does not grow with the number of paths."""
    for step in DOUBLINGS:
        few, many = (count_steps(repeated(answer, step, times).backward) for times in (6, 12))
        expect_that(
            many < 8 * few,
            "the cost of backward() grows with the number of paths: y + y, or y + y.tanh(), doubles them",
            yours=f"{few} steps where y is replaced 6 times, {many} where 12 times",
            likely="each use passes its share on by itself: collect all shares of a value first",
        )


def test_plain_python(answer):
    """torch takes no part."""

    def compute():
        x = answer.Value(2.0)
        ((x * 3 + 1).tanh() / x - x.exp().log()).relu().backward()

    expect_equal(dict(count_operations(compute)), {}, "the torch operations in a computation with Values")


@pytest.mark.fine
def test_backward_adds(answer):
    """backward() adds to every grad: two calls give twice the derivative, and old gradients do not flow."""
    a, b = answer.Value(2.0), answer.Value(3.0)
    c = a * b
    d = c * c + a
    for calls in (1, 2):
        d.backward()
        again = "grad held before the call is passed on with it"
        suspects = {
            f"what {again}": lambda: numbers(183.0, 120.0, 48.0, 2.0),
            f"the result's grad is set to 1, and what {again}": lambda: numbers(146.0, 96.0, 36.0, 1.0),
        }
        wanted = numbers(37.0 * calls, 24.0 * calls, 12.0 * calls, 1.0 * calls)
        call = f"the grad of a, b, c = a * b and d = c * c + a after {calls} of d.backward()"
        expect_close(numbers(*(v.grad for v in (a, b, c, d))), wanted, call, suspects=suspects)


@pytest.mark.fine
def test_deep_chain(answer, monkeypatch):
    """Ten thousand operations in a row work, at Python's own recursion limit."""
    limit, x = sys.getrecursionlimit(), answer.Value(0.3)
    y, wanted = x, 1.0
    for _ in range(5000):
        y, wanted = y * -0.5 + x, -0.5 * wanted + 1
    raised = []
    monkeypatch.setattr(sys, "setrecursionlimit", raised.append)
    try:
        y.backward()
    except RecursionError:
        if raised:
            expect_equal(raised[0], limit, "what backward() sets Python's recursion limit to")
        raise
    expect_close(numbers(x.grad), numbers(wanted), "x.grad after 5000 times y = y * -0.5 + x")


@pytest.mark.fine
def test_plain_floats(answer):
    """data and grad are Python floats, whatever numbers go in."""
    x = answer.Value(3)
    y = (x * 2 + 1) ** 2 - 1
    y.backward()
    for name, value in [("Value(3)", x), ("(x * 2 + 1) ** 2 - 1", y)]:
        kinds = type(value.data), type(value.grad)
        expect_equal(kinds, (float, float), f"the types of data and grad of {name}")


@pytest.mark.fine
def test_power_of_zero(answer):
    """x ** 0 has the derivative 0 at 0."""
    x = answer.Value(0.0)
    (x**0).backward()
    expect_close(numbers(x.grad), numbers(0.0), "x.grad after (x ** 0).backward() at x = 0")


def oracle(answer, gen):
    def numbers(gen, count):
        return [answer.Value(n) for n in (torch.rand(count, generator=gen) + 0.5).tolist()]

    def graph(steps):
        def case(gen):
            program = random_program(gen, steps)
            values = run(program, [answer.Value(x) for x in torch.randn(3, generator=gen).tolist()])
            values[-1].backward()
            return torch.tensor([[v.data, v.grad] for v in values]).float()

        return case

    def operations(*names):
        def case(gen):
            x, y = numbers(gen, 2)
            results = [OPERATIONS[name](x, y) for name in names]
            for result in results:
                result.backward()
            return torch.tensor([v.data for v in results] + [x.grad, y.grad]).float()

        return case

    def two_results(gen):
        x, y = numbers(gen, 2)
        for result in (x * y, (x + y).tanh()):
            result.backward()
        return torch.tensor([x.grad, y.grad]).float()

    behind = ("x + 3", "x - 3", "x * 3", "x / 4")
    before = ("3 + x", "3.5 - x", "-0.5 * x", "4 / x")
    return {
        "a graph of 5 steps": graph(5),
        "a graph of 9 steps": graph(9),
        "operations with two values": operations("x + y", "x - y", "x * y", "x / y", "-x"),
        "operations with a number behind": operations(*behind),
        "operations with a number in front": operations(*before),
        "powers": operations("x ** 3", "x ** -2", "(x * x) ** 0.5"),
        "functions": operations("x.exp()", "(x * x).log()", "x.tanh()", "x.relu()"),
        "a value that occurs twice": operations("x + x", "x * x"),
        "two results of the same values": two_results,
    }
