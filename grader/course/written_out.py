"""What an expression of a worked example comes to, without torch: numbers, arrays, and what holds them.

Only what an example writes out: tensors of lists, of ones, in a row, and what moves or scales their numbers.
"""

import ast
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from grader.course.arrays import Array

Value = Any
"""A number, a word, an `Array`, or a list, tuple or dict of such; None where it is not written out."""

_MOST = 4096
"""Numbers of an array that are written out."""
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_NAMES = {"inf": math.inf, "nan": math.nan, "pi": math.pi, "math.inf": math.inf, "math.pi": math.pi,
          "torch.inf": math.inf, "math.nan": math.nan}  # fmt: skip
_AS_THEY_ARE = ("tensor", "array", "Parameter", "asarray", "as_tensor")
_FILLED = {"zeros": 0.0, "ones": 1.0, "randn": None, "rand": None, "empty": None}
_THE_SAME = ("bfloat16", "float", "half", "double", "long", "clone", "contiguous", "requires_grad_", "to")


class Sizes(tuple[int, ...]):
    """A shape, told as `torch.Size`."""


def value_of(node: ast.expr, held: Mapping[str, Value]) -> Value:
    """What it comes to, where these names are known; None for anything else."""
    try:
        return _value(node, held)
    except (ValueError, TypeError, ArithmeticError, AttributeError, LookupError, RecursionError):
        return None


def arrays_in(value: Value) -> Iterator[Array]:
    """The arrays that a value is, or holds: lists of numbers count as one."""
    if isinstance(value, Array):
        yield value
    elif isinstance(value, dict):
        for held in value.values():
            yield from arrays_in(held)
    elif isinstance(value, (list, tuple)):
        try:
            yield Array.of(value)
        except ValueError:
            for held in value:
                yield from arrays_in(held)


def _value(node: ast.expr, held: Mapping[str, Value]) -> Value:
    match node:
        case ast.Constant(value=bool() | int() | float() | str() as value):
            return value
        case ast.Name() | ast.Attribute() if (name := ast.unparse(node)) in held or name in _NAMES:
            return held.get(name, _NAMES.get(name))
        case ast.Attribute(value=inner, attr="shape"):
            return Sizes(_array(inner, held).shape)
        case ast.Attribute(value=inner, attr="T" | "mT"):
            return _transposed(_array(inner, held))
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            values = [_known(part, held) for part in parts]
            return values if isinstance(node, ast.List) else tuple(values)
        case ast.Dict(keys=keys, values=parts):
            named = zip(keys, parts, strict=True)
            return {str(_known(key, held)): _known(part, held) for key, part in named if key}
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _each(operator.neg, _known(inner, held))
        case ast.BinOp(left=left, right=right, op=op):
            return _each(_OPERATORS[type(op)], _known(left, held), _known(right, held))
        case ast.Subscript(value=inner, slice=ast.Constant(value=None)):
            array = _array(inner, held)
            return Array((1, *array.shape), array.numbers)
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args):
            return _called(name, owner, [*args], held)
        case ast.Call(func=ast.Name(id=name), args=args):
            return _made(name, [_known(arg, held) for arg in args])
    return None


def _known(node: ast.expr, held: Mapping[str, Value]) -> Value:
    value = _value(node, held)
    if value is None:
        raise ValueError
    return value


def _array(node: ast.expr, held: Mapping[str, Value]) -> Array:
    value = _known(node, held)
    return value if isinstance(value, Array) else Array.of(value)


def _each(of: Callable[..., Any], *values: Value) -> Value:
    """The operation on numbers, or on each number of an array; the others are numbers, or of its shape."""
    arrays = [value for value in values if isinstance(value, Array)]
    if any(isinstance(value, str) for value in values):
        raise TypeError
    if not arrays:
        return _rounded(of(*values))
    shape = max((array.shape for array in arrays), key=len)
    if any(array.numbers is None for array in arrays):
        return Array(shape)
    columns = [_filled_up(value, shape) for value in values]
    return Array(shape, tuple(_rounded(of(*row)) for row in zip(*columns, strict=True)))


def _rounded(number: Any) -> Any:
    return round(number, 4) if isinstance(number, float) else number


def _filled_up(value: Value, shape: tuple[int, ...]) -> Sequence[Any]:
    if isinstance(value, Array) and value.shape:
        if value.shape != shape:
            raise ValueError
        return value.numbers or ()
    number = value.numbers[0] if isinstance(value, Array) and value.numbers else value
    return [number] * math.prod(shape)


def _called(name: str, owner: ast.expr, args: list[ast.expr], held: Mapping[str, Value]) -> Value:
    """A function of a module, or a method of an array."""
    is_dotted = isinstance(owner, (ast.Name, ast.Attribute))
    if is_dotted and ast.unparse(owner).partition(".")[0] in ("torch", "np", "numpy", "math", "nn"):
        values = [_known(arg, held) for arg in args[:1]] + [value_of(arg, held) for arg in args[1:]]
        return _made(name, [value for value in values if value is not None])  # a dtype is not
    array = _array(owner, held)
    sizes = [value for arg in args for value in _flat_sizes(_known(arg, held))]
    if name in _THE_SAME:
        return array
    if name in ("view", "reshape"):
        return _reshaped(array, sizes)
    if name == "flatten" and not sizes:
        return _reshaped(array, [-1])
    if name == "t":
        return _transposed(array)
    return _each(getattr(math, name), array)


def _made(name: str, args: list[Value]) -> Value:
    if name in _AS_THEY_ARE:
        return Array.of(args[0]) if not isinstance(args[0], Array) else args[0]
    if name in _FILLED:
        shape = tuple(size for arg in args for size in _flat_sizes(arg))
        number, count = _FILLED[name], math.prod(shape)
        return Array(shape, None if number is None or count > _MOST else (number,) * count)
    if name == "Size":
        return Sizes(args[0])
    if name in ("arange", "range"):
        numbers = tuple(itertools.islice(itertools.count(*_start_and_step(args)), _length(args)))
        return Array((len(numbers),), numbers)
    if name == "eye":
        rows, columns = (min(size, 64) for size in (*args, *args)[:2])
        return Array((rows, columns), tuple(float(r == c) for r in range(rows) for c in range(columns)))
    if name == "full":
        count = math.prod(args[0])
        return Array(tuple(args[0]), (args[1],) * count if count <= _MOST else None)
    if name in ("list", "tuple"):
        return args[0]
    if name == "float":
        return float(args[0])
    return _each(getattr(math, name), *args)


def _start_and_step(args: list[Value]) -> tuple[Any, Any]:
    return (args[0] if len(args) > 1 else type(args[0])(0)), (args[2] if len(args) > 2 else 1)


def _length(args: list[Value]) -> int:
    start, step = _start_and_step(args)
    count: int = math.ceil((args[1 if len(args) > 1 else 0] - start) / step)
    if count > _MOST:
        raise ValueError
    return max(count, 0)


def _flat_sizes(value: Value) -> Iterator[int]:
    if isinstance(value, (list, tuple)):
        for size in value:
            yield from _flat_sizes(size)
    elif isinstance(value, int):
        yield value


def _reshaped(array: Array, sizes: Sequence[int]) -> Array:
    count = math.prod(array.shape)
    known = math.prod(size for size in sizes if size != -1)
    shape = tuple(count // known if size == -1 else size for size in sizes)
    if math.prod(shape) != count:
        raise ValueError
    return Array(shape, array.numbers)


def _transposed(array: Array) -> Array:
    rows, columns = array.shape
    numbers = array.numbers and tuple(
        array.numbers[r * columns + c] for c in range(columns) for r in range(rows)
    )
    return Array((columns, rows), numbers)
