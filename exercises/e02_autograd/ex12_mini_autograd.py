"""Reverse-mode differentiation from nothing: a small autograd for single numbers.

A `Value` holds a number and remembers which values it was computed from. `backward()` walks from a result
to all of them and finds, by the chain rule, the derivative of the result by each:

    a, b = Value(2.0), Value(-3.0)
    c = a * b + a ** 2          # c.data is -2.0
    c.backward()                # a.grad is 1.0 (b + 2 a), b.grad is 2.0 (a), c.grad is 1.0

Rules:
- The operations: x + y, x - y, x * y and x / y, where one of the two may be a plain int or float, on either
  side; x ** n with an int or float n; -x; and the methods below. Each gives a new Value and changes none.
- `data` and `grad` are Python floats, also where ints went in; `grad` is 0.0 at first. Both may be assigned
  (though nobody assigns data between an operation and the backward through it).
- backward() adds the derivative of the result to the `grad` of every Value that it was computed from, of
  those in between too, and of the result itself (there it is 1). So a value that is used several times gets
  the sum over all its uses, two calls give twice the derivative, and two results that share a part add up
  there. What stood in a `grad` before is kept in the sum, and has no influence on any other.
- relu has the derivative 0 at 0, and so has x ** 0 at 0. Otherwise operations are used only where they have
  a derivative.
- Values are told apart by identity: two of them with equal numbers are two.
- Chains of 10 000 operations work, without raising Python's recursion limit. The cost of backward does not
  grow with the number of paths through the operations, which can double with each of them, nor with what
  else was computed.
- Plain Python: torch takes no part.
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
