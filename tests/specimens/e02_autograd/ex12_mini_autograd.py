"""Answers to mini_autograd that people write."""

from grader.authoring.specimen import Right, Wrong

SUM = "                derivative[operand] = derivative.get(operand, 0.0) + slope * derivative[value]\n"
OWN = "            value.grad += derivative[value]\n"
READY = """                waiting[operand] -= 1
                if waiting[operand] == 0:
                    ready.append(operand)
"""
BACKWARD = (
    """        waiting = _count_uses(self)
        derivative = {self: 1.0}  # apart from .grad, which may hold something already
        ready = [self]
        while ready:
            value = ready.pop()  # all its uses are behind us: its derivative is complete
"""
    + OWN
    + "            for operand, slope in value._inputs:\n"
    + SUM
    + READY
)

MICROGRAD = """        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for operand, _ in value._inputs:
                    visit(operand)
                order.append(value)

        visit(self)
        derivative = dict.fromkeys(order, 0.0)
        derivative[self] = 1.0
        for value in reversed(order):
            value.grad += derivative[value]
            for operand, slope in value._inputs:
                derivative[operand] += slope * derivative[value]
"""

SPECIMENS = [
    Wrong(
        "x + 0 is x itself",
        edits=[
            (
                "        other = _as_value(other)\n        return _computed(self.data + other.data",
                "        if not isinstance(other, Value) and other == 0:\n            return self\n"
                "        other = _as_value(other)\n        return _computed(self.data + other.data",
            )
        ],
        check="test_each_operation",
        says="is x itself",
    ),
    Wrong(
        "raises the recursion limit for as long as backward runs",
        edits=[
            (
                BACKWARD,
                "        import sys\n\n"
                "        limit = sys.getrecursionlimit()\n"
                "        sys.setrecursionlimit(100_000)\n"
                + MICROGRAD
                + "        sys.setrecursionlimit(limit)\n",
            )
        ],
        check="test_deep_chain",
        says="recursion limit",
    ),
    Wrong("a recursive walk", edits=[(BACKWARD, MICROGRAD)], check="test_deep_chain", says="recursion"),
    Wrong(
        "a recursive walk, and a raised limit",
        edits=[
            (BACKWARD, MICROGRAD),
            ("import math\n", "import math\nimport sys\n\nsys.setrecursionlimit(10**5)\n"),
        ],
        check="test_deep_chain",
        says="recursion limit",
    ),
    Wrong(
        "follows every path",
        edits=[
            (
                BACKWARD,
                """        ready = [(self, 1.0)]
        while ready:
            value, derivative = ready.pop()
            value.grad += derivative
            ready += [(operand, slope * derivative) for operand, slope in value._inputs]
""",
            )
        ],
        check="test_cost",
        says="number of paths",
    ),
    Wrong(
        "assigns on reuse: the last use wins",
        edits=[(SUM, "                derivative[operand] = slope * derivative[value]\n")],
        check="test_each_operation",
    ),
    Wrong(
        "level by level, not in topological order",
        edits=[
            (
                BACKWARD,
                """        derivative, ready, seen = {self: 1.0}, [self], {self}
        while ready:
            value = ready.pop(0)
            value.grad += derivative[value]
            for operand, slope in value._inputs:
                derivative[operand] = derivative.get(operand, 0.0) + slope * derivative[value]
                if operand not in seen:
                    seen.add(operand)
                    ready.append(operand)
""",
            )
        ],
        check="test_long_and_short_way",
    ),
    Wrong(
        "carries the derivative in .grad: a second call counts the first once more",
        edits=[
            (
                "        derivative = {self: 1.0}  # apart from .grad, which may hold something already\n",
                "        self.grad += 1.0\n",
            ),
            (OWN, ""),
            (SUM, "                operand.grad += slope * value.grad\n"),
        ],
        check="test_backward_adds",
        says="what grad held before the call",
    ),
    Wrong(
        "clears all gradients first",
        edits=[
            (
                "        waiting = _count_uses(self)\n",
                "        waiting = _count_uses(self)\n        for value in (self, *waiting):\n            value.grad = 0.0\n",
            )
        ],
        check="test_backward_adds",
    ),
    Wrong(
        "sets the gradient of the result to 1",
        edits=[(OWN, "            value.grad = 1.0 if value is self else value.grad + derivative[value]\n")],
        check="test_old_gradients",
    ),
    Wrong(
        "frees the graph after backward",
        edits=[(READY, READY + "            value._inputs = ()\n")],
        check="test_backward_adds",
        says="reaches the result alone",
    ),
    Wrong(
        "gradients for the leaves only",
        edits=[(OWN, "            if not value._inputs:\n    " + OWN)],
        check="test_random_graphs",
    ),
    Wrong(
        "the result itself has none",
        edits=[(OWN, "            if value is not self:\n    " + OWN)],
        check="test_worked_example",
    ),
    Wrong(
        "3 - x as x - 3",
        edits=[("return _as_value(other) - self", "return self - other")],
        check="test_each_operation",
    ),
    Wrong(
        "4 / x as x / 4",
        edits=[("return _as_value(other) / self", "return self / other")],
        check="test_each_operation",
    ),
    Wrong(
        "no number on the left of *",
        edits=[('    def __rmul__(self, other: float) -> "Value":\n        return self * other\n\n', "")],
        check="test_each_operation",
    ),
    Wrong(
        "no number on the left of +: no sum() either",
        edits=[('    def __radd__(self, other: float) -> "Value":\n        return self + other\n\n', "")],
        check="test_equal_numbers",
    ),
    Wrong(
        "the power rule without lowering the exponent",
        edits=[("n * self.data ** (n - 1)", "n * self.data**n")],
        check="test_each_operation",
    ),
    Wrong("x ** 0 at 0 divides by zero", edits=[(" if n != 0 else 0.0", "")], check="test_at_zero"),
    Wrong(
        "the power rule by the logarithm, or by division by x",
        edits=[("n * self.data ** (n - 1) if n != 0 else 0.0", "n * self.data**n / self.data")],
        check="test_at_zero",
    ),
    Wrong(
        "relu lets gradients through at 0",
        edits=[("self.data > 0 else", "self.data >= 0 else")],
        check="test_at_zero",
    ),
    Wrong(
        "relu that leaks",
        edits=[("1.0 if self.data > 0 else 0.0", "1.0 if self.data > 0 else 0.01")],
        check="test_each_operation",
    ),
    Wrong(
        "tanh by the exponential function, which overflows",
        edits=[("        y = math.tanh(self.data)\n", "        y = 1 - 2 / (math.exp(2 * self.data) + 1)\n")],
        check="test_large_numbers",
    ),
    Wrong(
        "tanh whose derivative lacks a square",
        edits=[("1.0 - y * y", "1.0 - y")],
        check="test_each_operation",
    ),
    Wrong(
        "the derivative of exp at the result",
        edits=[("return _computed(y, (self, y))", "return _computed(y, (self, self.data))")],
        check="test_each_operation",
    ),
    Wrong(
        "ints stay ints", edits=[("self.data = float(data)", "self.data = data")], check="test_plain_floats"
    ),
    Wrong(
        "the first grad is an int", edits=[("self.grad = 0.0", "self.grad = 0")], check="test_plain_floats"
    ),
    Wrong(
        "values with equal numbers are one",
        edits=[
            (
                "    def __neg__(self)",
                "    def __eq__(self, other):\n        return self.data == other.data\n\n"
                "    def __hash__(self):\n        return hash(self.data)\n\n    def __neg__(self)",
            )
        ],
        check="test_equal_numbers",
    ),
    Wrong(
        "adds in place",
        edits=[
            (
                "    def __neg__(self)",
                "    def __iadd__(self, other):\n        self.data += _as_value(other).data\n        return self\n\n    def __neg__(self)",
            )
        ],
        check="test_others_are_left_alone",
        says="new Value",
    ),
    Wrong(
        "one tape for everything: gradients for results that were not asked for",
        edits=[
            ("    value._inputs = inputs\n", "    value._inputs = inputs\n    TAPE.append(value)\n"),
            ("import math\n", "import math\n\nTAPE = []\n"),
            (
                BACKWARD,
                """        self.grad += 1.0
        for value in reversed(TAPE):
            for operand, slope in value._inputs:
                operand.grad += slope * value.grad
""",
            ),
        ],
        check="test_backward_adds",
        says="what grad held before the call",
    ),
    Wrong(
        "torch inside",
        code="""
import torch

class Value:
    def __init__(self, data):
        self.t = data if isinstance(data, torch.Tensor) else torch.tensor(float(data), dtype=torch.float64, requires_grad=True)
        if self.t.requires_grad:
            self.t.retain_grad()

    data = property(lambda self: self.t.item())

    @property
    def grad(self):
        return 0.0 if self.t.grad is None else self.t.grad.item()

    @grad.setter
    def grad(self, number):
        self.t.grad = torch.tensor(number, dtype=torch.float64)

    def backward(self):
        self.t.backward(retain_graph=True)

def wrap(name):
    def method(self, *others):
        return Value(getattr(self.t, name)(*(o.t if isinstance(o, Value) else o for o in others)))
    return method

for name in "add sub mul truediv pow neg radd rsub rmul rtruediv".split():
    setattr(Value, f"__{name}__", wrap(f"__{name}__"))
for name in "exp log tanh relu".split():
    setattr(Value, name, wrap(name))
""",
        check="test_torch_takes_no_part",
    ),
    Wrong(
        "relu hands itself on where it is positive",
        edits=[
            (
                "return _computed(max(self.data, 0.0), (self, 1.0 if self.data > 0 else 0.0))",
                "return self if self.data > 0 else _computed(0.0, (self, 0.0))",
            )
        ],
        check="test_each_operation",
        says="new Value",
    ),
    Wrong(
        "nothing to do for a leaf",
        edits=[
            (
                "        waiting = _count_uses(self)\n",
                "        if not self._inputs:\n            return\n        waiting = _count_uses(self)\n",
            )
        ],
        check="test_backward_from_a_leaf",
    ),
    Wrong(
        "values with equal numbers are equal",
        edits=[
            (
                "    def __neg__(self)",
                "    def __eq__(self, other):\n        return self.data == _as_value(other).data\n\n    __hash__ = object.__hash__\n\n    def __neg__(self)",
            )
        ],
        check="test_equal_numbers",
    ),
    Wrong(
        "knows the exponent 0, not 0.0",
        edits=[("if n != 0 else 0.0", "if n != 0 or isinstance(n, float) else 0.0")],
        check="test_at_zero",
    ),
    Right(
        "closures, and a walk with a stack of iterators",
        code="""
from math import exp, log, tanh

class Value:
    __slots__ = ("data", "grad", "parents", "push")

    def __init__(self, data, parents=(), push=None):
        self.data, self.grad, self.parents, self.push = float(data), 0.0, parents, push

    @staticmethod
    def lift(x):
        return x if isinstance(x, Value) else Value(x)

    def __add__(self, other):
        other = Value.lift(other)
        return Value(self.data + other.data, (self, other), lambda g: (g, g))

    def __mul__(self, other):
        other = Value.lift(other)
        a, b = self.data, other.data
        return Value(a * b, (self, other), lambda g: (g * b, g * a))

    def __truediv__(self, other):
        other = Value.lift(other)
        a, b = self.data, other.data
        return Value(a / b, (self, other), lambda g: (g / b, -g * a / (b * b)))

    def __sub__(self, other):
        other = Value.lift(other)
        return Value(self.data - other.data, (self, other), lambda g: (g, -g))

    def __pow__(self, n):
        x = self.data
        return Value(x**n, (self,), lambda g: (g * n * x ** (n - 1) if n else 0.0,))

    def __neg__(self):
        return 0 - self

    def __rsub__(self, other):
        return Value.lift(other).__sub__(self)

    def __rtruediv__(self, other):
        return Value.lift(other).__truediv__(self)

    __radd__, __rmul__ = __add__, __mul__

    def exp(self):
        y = exp(self.data)
        return Value(y, (self,), lambda g: (g * y,))

    def log(self):
        x = self.data
        return Value(log(x), (self,), lambda g: (g / x,))

    def tanh(self):
        y = tanh(self.data)
        return Value(y, (self,), lambda g: (g * (1 - y**2),))

    def relu(self):
        positive = self.data > 0
        return Value(self.data if positive else 0.0, (self,), lambda g: (g if positive else 0.0,))

    def backward(self):
        order, seen, stack = [], {id(self)}, [(self, iter(self.parents))]
        while stack:
            node, rest = stack[-1]
            for parent in rest:
                if id(parent) not in seen:
                    seen.add(id(parent))
                    stack.append((parent, iter(parent.parents)))
                    break
            else:
                order.append(node)
                stack.pop()
        shares = {id(self): 1.0}
        for node in reversed(order):
            share = shares[id(node)]
            node.grad += share
            if node.push:
                for parent, part in zip(node.parents, node.push(share)):
                    shares[id(parent)] = shares.get(id(parent), 0.0) + part
""",
    ),
    Right(
        "numbered at birth: the youngest value first",
        edits=[
            (
                BACKWARD,
                """        derivative = {self: 1.0}
        heap = [(-self._born, self)]
        while heap:
            _, value = heapq.heappop(heap)
            value.grad += derivative[value]
            for operand, slope in value._inputs:
                if operand not in derivative:
                    derivative[operand] = 0.0
                    heapq.heappush(heap, (-operand._born, operand))
                derivative[operand] += slope * derivative[value]
""",
            ),
            ("        self.grad = 0.0\n", "        self.grad = 0.0\n        self._born = next(BIRTHS)\n"),
            ("import math\n", "import heapq\nimport itertools\nimport math\n\nBIRTHS = itertools.count()\n"),
        ],
    ),
    Wrong(
        "one tape of all values that there ever were",
        edits=[
            (
                BACKWARD,
                """        derivative = {self: 1.0}
        for value in reversed(TAPE):
            if value in derivative:
                value.grad += derivative[value]
                for operand, slope in value._inputs:
                    derivative[operand] = derivative.get(operand, 0.0) + slope * derivative[value]
""",
            ),
            ("        self.grad = 0.0\n", "        self.grad = 0.0\n        TAPE.append(self)\n"),
            ("import math\n", "import math\n\nTAPE = []\n"),
        ],
        check="test_cost",
        says="300 other results",
    ),
    Wrong(
        "passes on what has come to grad",
        edits=[
            (
                BACKWARD,
                """        waiting = _count_uses(self)
        old = {value: value.grad for value in waiting} | {self: self.grad}
        self.grad += 1.0
        ready = [self]
        while ready:
            value = ready.pop()
            for operand, slope in value._inputs:
                operand.grad += slope * (value.grad - old[value])
                waiting[operand] -= 1
                if waiting[operand] == 0:
                    ready.append(operand)
""",
            )
        ],
        check="test_old_gradients",
        says="where inf stood",
    ),
    Wrong(
        "passes shares on as they come, the earliest first: once for each length of the way",
        edits=[
            (
                BACKWARD,
                """        waiting = {self: 1.0}
        while waiting:
            value = next(iter(waiting))
            share = waiting.pop(value)
            value.grad += share
            for operand, slope in value._inputs:
                waiting[operand] = waiting.get(operand, 0.0) + slope * share
""",
            )
        ],
        check="test_cost",
        says="number of paths",
    ),
    Wrong(
        "passes shares on, the latest first",
        edits=[
            (
                BACKWARD,
                """        waiting = {self: 1.0}
        while waiting:
            value, share = waiting.popitem()
            value.grad += share
            for operand, slope in value._inputs:
                waiting[operand] = waiting.get(operand, 0.0) + slope * share
""",
            )
        ],
        check="test_cost",
        says="number of paths",
    ),
    Wrong(
        "goes by age, and counts a value as new after its backward",
        edits=[
            (
                BACKWARD,
                """        derivative, heap = {self: 1.0}, [(-self._age, self)]
        self._age = next(_ages)
        while heap:
            _, value = heapq.heappop(heap)
            value.grad += derivative[value]
            for operand, slope in value._inputs:
                if operand not in derivative:
                    derivative[operand] = 0.0
                    heapq.heappush(heap, (-operand._age, operand))
                derivative[operand] += slope * derivative[value]
""",
            ),
            ("        self.grad = 0.0\n", "        self.grad = 0.0\n        self._age = next(_ages)\n"),
            ("import math\n", "import heapq\nimport itertools\nimport math\n\n_ages = itertools.count()\n"),
        ],
        check="test_backward_adds",
        says="backward() of c, d and c",
    ),
    Wrong(
        "a negative exponent as a whole number",
        edits=[
            (
                "slope = n * self.data ** (n - 1) if n != 0 else 0.0",
                "slope = (int(n) if n < 0 else n) * self.data ** (n - 1) if n != 0 else 0.0",
            )
        ],
        check="test_each_operation",
        says="-0.5",
    ),
    Wrong(
        "one tape of all operations that there ever were",
        edits=[
            (
                BACKWARD,
                """        derivative = {self: 1.0}
        for value in reversed(TAPE):
            if value in derivative:
                for operand, slope in value._inputs:
                    derivative[operand] = derivative.get(operand, 0.0) + slope * derivative[value]
        for value, number in derivative.items():
            value.grad += number
""",
            ),
            ("    value._inputs = inputs\n", "    value._inputs = inputs\n    TAPE.append(value)\n"),
            ("import math\n", "import math\n\nTAPE = []\n"),
        ],
        check="test_cost",
        says="300 other results",
    ),
    Wrong(
        "remembers what was computed from each value, and looks through all of it",
        edits=[
            (
                BACKWARD,
                """        waiting = _count_uses(self)
        derivative, found = {self: 1.0}, set(waiting) | {self}
        ready = [self]
        while ready:
            value = ready.pop()
            value.grad += derivative[value]
            for operand, slope in value._inputs:
                derivative[operand] = derivative.get(operand, 0.0) + slope * derivative[value]
                waiting[operand] -= 1
                if waiting[operand] == 0 and any(user in found for user in reversed(operand._users)):
                    ready.append(operand)
                for user in operand._users:
                    if user in found:
                        continue
""",
            ),
            ("        self.grad = 0.0\n", "        self.grad = 0.0\n        self._users = []\n"),
            (
                "    value._inputs = inputs\n",
                "    value._inputs = inputs\n    for operand, _ in inputs:\n        operand._users.append(value)\n",
            ),
        ],
        check="test_cost",
        says="300 other results",
    ),
]
