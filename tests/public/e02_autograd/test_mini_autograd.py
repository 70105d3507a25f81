"""The worked example of Value, plain numbers and functions."""

from grader.checks import expect_number


def near(yours, wanted, what, suspects=None):
    expect_number(float(yours), wanted, what, rtol=0.0, atol=1e-12, suspects=suspects)


def test_worked_example(answer):
    """The worked example comes out."""
    a, b = answer.Value(2.0), answer.Value(-3.0)
    c = a * b + a**2
    near(c.data, -2.0, "data of a * b + a ** 2")
    for value, name in [(a, "a"), (b, "b"), (c, "c")]:
        near(value.grad, 0.0, f"{name}.grad before backward()")
    c.backward()
    last = {
        "the product is forgotten: each use of a adds to its grad": lambda: 4.0,
        "the power is forgotten: each use of a adds to its grad": lambda: -3.0,
    }
    near(a.grad, 1.0, "a.grad for a * b + a ** 2", last)
    near(b.grad, 2.0, "b.grad for a * b + a ** 2")
    unset = {"backward does not begin with 1 at the result": lambda: 0.0}
    near(c.grad, 1.0, "grad of the result itself", unset)


def test_plain_numbers(answer):
    """Plain numbers may stand on either side of an operator."""
    x = answer.Value(2.0)
    y = 3 - (1 / x + x / 4 - 2 * x) + (5 + x)
    swapped = {"3 - x is computed as x - 3": lambda: 1.0}
    near(y.data, 13.0, "data of 3 - (1 / x + x / 4 - 2 * x) + (5 + x)", swapped)
    y.backward()
    near(x.grad, 3.0, "x.grad for 3 - (1 / x + x / 4 - 2 * x) + (5 + x)")


def test_functions(answer):
    """exp, log, tanh and relu have their values and derivatives."""
    for name, at, value, slope in [
        ("exp", 0.0, 1.0, 1.0),
        ("log", 2.0, 0.6931471805599453, 0.5),
        ("tanh", 0.0, 0.0, 1.0),
        ("relu", -1.0, 0.0, 0.0),
        ("relu", 3.0, 3.0, 1.0),
    ]:
        x = answer.Value(at)
        y = getattr(x, name)()
        y.backward()
        near(y.data, value, f"data of Value({at}).{name}()")
        near(x.grad, slope, f"x.grad for Value({at}).{name}()")
