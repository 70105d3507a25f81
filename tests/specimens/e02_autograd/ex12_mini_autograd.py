"""Answers to mini_autograd that people write."""

from grader.authoring.specimen import Right, Works, Wrong

SHARE = "derivative[operand] = derivative.get(operand, 0.0) + slope * derivative[value]"
BACKWARD = """        waiting = _count_uses(self)
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
"""

MICROGRAD = '''
import math

class Value:
    """ stores a single scalar value and its gradient """

    def __init__(self, data, _children=(), _op=''):
        self.data = data
        self.grad = 0.0
        self._backward = lambda: None
        self._prev = set(_children)
        self._op = _op

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other), '+')

        def _backward():
            self.grad += out.grad
            other.grad += out.grad
        out._backward = _backward

        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other), '*')

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out._backward = _backward

        return out

    def __pow__(self, other):
        assert isinstance(other, (int, float)), "only supporting int/float powers for now"
        out = Value(self.data**other, (self,), f'**{other}')

        def _backward():
            self.grad += (other * self.data**(other-1)) * out.grad
        out._backward = _backward

        return out

    def relu(self):
        out = Value(0 if self.data < 0 else self.data, (self,), 'ReLU')

        def _backward():
            self.grad += (out.data > 0) * out.grad
        out._backward = _backward

        return out

    def tanh(self):
        t = (math.exp(2 * self.data) - 1) / (math.exp(2 * self.data) + 1)
        out = Value(t, (self,), 'tanh')

        def _backward():
            self.grad += (1 - t**2) * out.grad
        out._backward = _backward

        return out

    def exp(self):
        out = Value(math.exp(self.data), (self,), 'exp')

        def _backward():
            self.grad += out.data * out.grad
        out._backward = _backward

        return out

    def log(self):
        out = Value(math.log(self.data), (self,), 'log')

        def _backward():
            self.grad += out.grad / self.data
        out._backward = _backward

        return out

    def backward(self):
        # topological order all of the children in the graph
        topo = []
        visited = set()
        def build_topo(v):
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build_topo(child)
                topo.append(v)
        build_topo(self)

        # go one variable at a time and apply the chain rule to get its gradient
        self.grad = 1
        for v in reversed(topo):
            v._backward()

    def __neg__(self):
        return self * -1

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return other + (-self)

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        return self * other**-1

    def __rtruediv__(self, other):
        return other * self**-1
'''

SPECIMENS = [
    Wrong(
        "the last use counts, instead of the sum over all",
        edits=[(SHARE, "derivative[operand] = slope * derivative[value]")],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "micrograd with = instead of += in the product",
        code=MICROGRAD.replace("self.grad += other.data", "self.grad = other.data").replace(
            "other.grad += self.data", "other.grad = self.data"
        ),
        check="test_random_graphs",
        rung="job",
    ),
    Wrong(
        "level by level: a value passes its gradient on before the long way has come in",
        edits=[
            (
                BACKWARD,
                """        derivative, order, seen = {self: 1.0}, [self], {self}
        for value in order:
            value.grad += derivative[value]
            for operand, slope in value._inputs:
                derivative[operand] = derivative.get(operand, 0.0) + slope * derivative[value]
                if operand not in seen:
                    seen.add(operand)
                    order.append(operand)
""",
            )
        ],
        check="test_long_and_short_way",
        rung="job",
    ),
    Wrong(
        "passes shares on as they come, the latest first",
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
        rung="job",
    ),
    Wrong(
        "the result itself gets no gradient",
        edits=[
            (
                "            value.grad += derivative[value]\n",
                "            value.grad += derivative[value] if value is not self else 0.0\n",
            )
        ],
        check="test_worked_example",
        says="grad of the result itself",
        rung="job",
    ),
    Wrong(
        "plain numbers on the right only",
        edits=[("__rsub__", "rsub"), ("__rtruediv__", "rtruediv")],
        check="test_plain_numbers",
        says="unsupported operand",
        rung="job",
    ),
    Wrong(
        "3 - x as x - 3",
        edits=[("return _as_value(other) - self", "return self - other")],
        check="test_plain_numbers",
        rung="job",
    ),
    Wrong(
        "the derivative of a power with the exponent itself",
        edits=[("n * self.data ** (n - 1)", "n * self.data**n")],
        check="test_worked_example",
        rung="job",
    ),
    Wrong(
        "tanh with 1 - x² instead of 1 - tanh(x)²",
        edits=[("(self, 1.0 - y * y)", "(self, 1.0 - self.data**2)")],
        check="test_each_operation",
        says="x.tanh()",
        rung="job",
    ),
    Wrong(
        "relu with the derivative 1 at 0",
        edits=[("if self.data > 0", "if self.data >= 0")],
        check="test_relu_at_zero",
        rung="job",
    ),
    Wrong(
        "clears all gradients first",
        edits=[
            (
                "        waiting = _count_uses(self)\n",
                "        waiting = _count_uses(self)\n        for value in waiting:\n            value.grad = 0.0\n",
            )
        ],
        check="test_two_results",
        says="replaces what the first has found",
        rung="job",
    ),
    Wrong(
        "torch computes",
        edits=[
            ("import math\n", "import math\n\nimport torch\n"),
            (
                "        y = math.exp(self.data)\n",
                "        y = torch.tensor(self.data, dtype=torch.float64).exp().item()\n",
            ),
        ],
        check="test_plain_python",
        says="exp",
        rung="job",
    ),
    Wrong(
        "micrograd: a second call passes on what the first has left",
        code=MICROGRAD,
        check="test_backward_adds",
        says="set to 1",
    ),
    Wrong(
        "a topological sort by recursion",
        edits=[
            (
                BACKWARD,
                """        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for operand, _ in value._inputs:
                    visit(operand)
                order.append(value)

        visit(self)
        derivative = {self: 1.0}
        for value in reversed(order):
            value.grad += derivative[value]
            for operand, slope in value._inputs:
                derivative[operand] = derivative.get(operand, 0.0) + slope * derivative[value]
""",
            )
        ],
        check="test_deep_chain",
        says="recursion",
    ),
    Wrong(
        "a recursive walk, and a raised limit",
        edits=[
            ("import math\n", "import math\nimport sys\n"),
            (
                BACKWARD,
                """        order, seen = [], set()
        sys.setrecursionlimit(100_000)

        def visit(value):
            if value not in seen:
                seen.add(value)
                for operand, _ in value._inputs:
                    visit(operand)
                order.append(value)

        visit(self)
        derivative = {self: 1.0}
        for value in reversed(order):
            value.grad += derivative[value]
            for operand, slope in value._inputs:
                derivative[operand] = derivative.get(operand, 0.0) + slope * derivative[value]
""",
            ),
        ],
        check="test_deep_chain",
        says="sets Python's recursion limit",
    ),
    Wrong(
        "keeps ints",
        edits=[("self.data = float(data)", "self.data = data")],
        check="test_plain_floats",
    ),
    Wrong(
        "the rule of powers for 0, too: 0 ** -1",
        edits=[(" if n != 0 else 0.0  # 0 ** -1 is an error", "")],
        check="test_power_of_zero",
        says="ZeroDivisionError",
    ),
    Works("karpathy's micrograd, with tanh and exp as in the lecture", code=MICROGRAD),
    Works(
        "operands with their slopes, sorted by recursion, floats",
        code=MICROGRAD.replace("self.data = data", "self.data = float(data)")
        .replace("self.grad = 1\n", "self.grad += 1.0\n")
        .replace("(math.exp(2 * self.data) - 1) / (math.exp(2 * self.data) + 1)", "math.tanh(self.data)"),
    ),
    Right(
        "by age: the youngest first, from a heap",
        edits=[
            (
                BACKWARD,
                """        derivative, heap = {self: 1.0}, [(-self._age, self)]
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
    ),
    Right(
        "a topological sort on a stack of its own",
        edits=[
            (
                BACKWARD,
                """        order, seen, stack = [], set(), [(self, False)]
        while stack:
            value, done = stack.pop()
            if done:
                order.append(value)
            elif value not in seen:
                seen.add(value)
                stack.append((value, True))
                stack.extend((operand, False) for operand, _ in value._inputs)
        found = dict.fromkeys(order, 0.0)
        found[self] = 1.0
        for value in reversed(order):
            value.grad = value.grad + found[value]
            for operand, slope in value._inputs:
                found[operand] += slope * found[value]
""",
            )
        ],
    ),
]
