"""Reverse-mode differentiation from nothing: a small autograd for single numbers.

A `Value` holds a number, and remembers what it was computed from. `backward()` walks from a result to all of
that, and adds to each `grad` the derivative of the result by it, found by the chain rule:

    a, b = Value(2.0), Value(-3.0)
    c = a * b + a ** 2          # c.data is -2.0
    c.backward()                # a.grad is 1.0 (b + 2 a), b.grad is 2.0 (a), c.grad is 1.0

- Operations: x + y, x - y, x * y, x / y, where x or y may be a plain number; x ** n with a plain n; -x; exp,
  log, tanh, and relu, whose derivative at 0 is 0.
- A value used several times gets the sum over its uses. Two results add up in what both use.
- The cost of backward does not grow with the number of paths.
- Plain Python: no torch.

Fine print:
- What stands in a `grad` is added to, and goes nowhere else: two calls give twice the derivative. In
  micrograd it flows on, so that a second call, or results that share a value in between, come out wrong.
- Chains of 10 000 operations work, at Python's own recursion limit: backward is no recursion.
- `data` and `grad` are Python floats, also where ints went in.
- x ** 0 has the derivative 0 at 0.
"""


class Value:
    """A number that knows how it was computed."""

    data: float
    grad: float

    def __init__(self, data: float) -> None:
        """A number from outside: it was not computed from anything."""
        raise NotImplementedError

    def __add__(self, other: "Value | float") -> "Value":
        """self + other; the other operators are yours to add."""
        raise NotImplementedError

    def exp(self) -> "Value":
        """e to the power of self."""
        raise NotImplementedError

    def log(self) -> "Value":
        """The natural logarithm of self, which is positive."""
        raise NotImplementedError

    def tanh(self) -> "Value":
        """The hyperbolic tangent of self."""
        raise NotImplementedError

    def relu(self) -> "Value":
        """self where it is positive, else 0."""
        raise NotImplementedError

    def backward(self) -> None:
        """Add the derivative of self by each value that it was computed from to the `grad` of that value."""
        raise NotImplementedError
