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

import math


class Value:
    """A number that knows how it was computed."""

    data: float
    grad: float

    def __init__(self, data: float) -> None:
        """A number from outside: it was not computed from anything."""
        self.data = float(data)
        self.grad = 0.0
        self._inputs: tuple[tuple[Value, float], ...] = ()  # each operand, and the derivative by it

    def __add__(self, other: "Value | float") -> "Value":
        """self + other; the other operators are yours to add."""
        other = _as_value(other)
        return _computed(self.data + other.data, (self, 1.0), (other, 1.0))

    def __mul__(self, other: "Value | float") -> "Value":
        other = _as_value(other)
        return _computed(self.data * other.data, (self, other.data), (other, self.data))

    def __pow__(self, n: float) -> "Value":
        slope = n * self.data ** (n - 1) if n != 0 else 0.0  # 0 ** -1 is an error
        return _computed(self.data**n, (self, slope))

    def __neg__(self) -> "Value":
        return self * -1.0

    def __sub__(self, other: "Value | float") -> "Value":
        return self + -_as_value(other)

    def __truediv__(self, other: "Value | float") -> "Value":
        return self * _as_value(other) ** -1

    def __radd__(self, other: float) -> "Value":
        return self + other

    def __rmul__(self, other: float) -> "Value":
        return self * other

    def __rsub__(self, other: float) -> "Value":
        return _as_value(other) - self

    def __rtruediv__(self, other: float) -> "Value":
        return _as_value(other) / self

    def exp(self) -> "Value":
        """e to the power of self."""
        y = math.exp(self.data)
        return _computed(y, (self, y))

    def log(self) -> "Value":
        """The natural logarithm of self, which is positive."""
        return _computed(math.log(self.data), (self, 1.0 / self.data))

    def tanh(self) -> "Value":
        """The hyperbolic tangent of self."""
        y = math.tanh(self.data)
        return _computed(y, (self, 1.0 - y * y))

    def relu(self) -> "Value":
        """self where it is positive, else 0."""
        return _computed(max(self.data, 0.0), (self, 1.0 if self.data > 0 else 0.0))

    def backward(self) -> None:
        """Add the derivative of self by each value that it was computed from to the `grad` of that value."""
        waiting = _count_uses(self)
        derivative = {self: 1.0}  # apart from .grad, which may hold something already
        ready = [self]
        while ready:
            value = ready.pop()  # all its uses are behind us: its derivative is complete
            value.grad += derivative[value]
            for operand, slope in value._inputs:
                derivative[operand] = derivative.get(operand, 0.0) + slope * derivative[value]
                waiting[operand] -= 1
                if waiting[operand] == 0:
                    ready.append(operand)


def _as_value(number: Value | float) -> Value:
    return number if isinstance(number, Value) else Value(number)


def _computed(data: float, *inputs: tuple[Value, float]) -> Value:
    value = Value(data)
    value._inputs = inputs
    return value


def _count_uses(result: Value) -> dict[Value, int]:
    """How often each value is an operand on the way to the result."""
    uses: dict[Value, int] = {}
    todo = [result]
    while todo:
        for operand, _ in todo.pop()._inputs:
            if operand not in uses:
                uses[operand] = 0
                todo.append(operand)
            uses[operand] += 1
    return uses
