import math


class Value:
    data: float
    grad: float

    def __init__(self, data: float) -> None:
        self.data = float(data)
        self.grad = 0.0
        self._inputs: tuple[tuple[Value, float], ...] = ()  # each operand, and the derivative by it

    def __add__(self, other: "Value | float") -> "Value":
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
        y = math.exp(self.data)
        return _computed(y, (self, y))

    def log(self) -> "Value":
        return _computed(math.log(self.data), (self, 1.0 / self.data))

    def tanh(self) -> "Value":
        y = math.tanh(self.data)
        return _computed(y, (self, 1.0 - y * y))

    def relu(self) -> "Value":
        return _computed(max(self.data, 0.0), (self, 1.0 if self.data > 0 else 0.0))

    def backward(self) -> None:
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
