"""What the worked example of a statement calls: what goes in and what comes of it, as arrays by name.

What comes of a call stands behind it as a remark, or behind a name that is looked at after it.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby

from grader.course import remarked
from grader.course.arrays import Array, Named
from grader.course.remark import beginning, labelled, named, sized
from grader.course.statement import Statement
from grader.course.written_out import Value, arrays_in, value_of

_SIZES = ".shape"
_OF_SIZES = re.compile(r"\w+\[Tensor\b|dict\[str, \w+\[Tensor\b|(list\[)?tuple\[int, \.\.\.\]")
_NO_TENSOR = re.compile(r".*\bCallable\b|(?!.*\bTensor\b)")
_MOST_CALLS, _MOST_ARRAYS = 3, 16
_MOST = 48
"""Numbers of an array, beyond which a picture tells no more than its shape does."""


@dataclass(frozen=True)
class Call:
    """`code` is what is called; `is_whole` tells whether each tensor that it is given is known, and `is_own`
    whether it is written in the start.
    """

    code: str
    given: Named = ()
    gives: Named = ()
    is_whole: bool = True
    is_own: bool = False

    @property
    def is_written_out(self) -> bool:
        """Whether all numbers are known, and few enough to be drawn."""
        numbers = [array.numbers for _, array in (*self.given, *self.gives)]
        return all(some is not None and len(some) <= _MOST for some in numbers)

    @property
    def is_telling(self) -> bool:
        """Whether something in it has a shape, and something comes of it."""
        arrays = [array for _, array in (*self.given, *self.gives)]
        is_new = bool(self.given) or not (self.code.endswith("()") or _is_of_words(self.gives))
        has_shape = any(array.shape for array in arrays) and len(arrays) <= _MOST_ARRAYS
        return bool(self.is_whole and self.gives) and is_new and has_shape


def _is_of_words(arrays: Named) -> bool:
    return all(isinstance(number, str) for _, array in arrays for number in array.numbers or (0,))


def call_of(said: Statement) -> Call | None:
    """The first call of the example that can be drawn: one with all its numbers before one of shapes."""
    calls = [call for call in _joined(_calls(said)) if call.is_telling]
    best = sorted(calls, key=lambda c: (not c.is_written_out, not c.is_own, not c.given))
    return best[0] if best else None


def _joined(calls: Iterator[Call]) -> Iterator[Call]:
    """Calls one after the other of one function with the same arrays are one, with the results of all."""
    for _, some in groupby(calls, lambda c: (c.code.partition("(")[0], c.given, c.is_whole)):
        held = [*some][:_MOST_CALLS]
        first = held[0]
        if len(held) > 1 and all(call.gives for call in held):
            arguments = [_arguments(call.code) for call in held]
            told = [[a for a in own if any(a not in other for other in arguments)] for own in arguments]
            gives = [
                (", ".join(words), array) for words, c in zip(told, held, strict=True) for _, array in c.gives
            ]
            yield replace(first, gives=tuple(gives))
        else:
            yield from held


def _arguments(code: str) -> list[str]:
    call = ast.parse(code, mode="eval").body
    return (
        [*map(ast.unparse, call.args), *map(ast.unparse, call.keywords)] if isinstance(call, ast.Call) else []
    )


def _calls(said: Statement) -> Iterator[Call]:
    """Those of the example, with what is told of each behind it."""
    reader = _Reader(_signatures(said.code))
    last: Call | None = None
    for node, remark in remarked.statements(said.job):
        found = reader.read(node, remark)
        if found is None:
            continue
        if found.code:
            if last:
                yield last
            last = found
        elif last and (not last.gives or reader.is_of_last):
            last = replace(last, gives=(*last.gives, *found.gives))
    if last:
        yield last


@dataclass
class _Reader:
    """What is known while an example is read from its first line to its last."""

    signatures: dict[str, ast.FunctionDef]
    held: dict[str, Value] = field(default_factory=dict)
    around: Named = ()
    is_of_last: bool = False

    def read(self, node: ast.stmt | None, remark: str) -> Call | None:
        """A call; what is told of the one before, where `code` is empty; or None."""
        match node:
            case None:
                self.around += tuple(labelled(remark))
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._keep(target, value)
                call = _call_in(value)
                if call is not None and value_of(value, self.held) is None:
                    self.is_of_last = True
                    is_class = ast.unparse(call.func).rpartition(".")[2][:1].isupper()
                    return self._call(call, () if is_class else self._results(value, remark))
            case ast.Expr(value=value) if (call := _call_in(value)) is not None:
                self.is_of_last = False
                return self._call(call, self._results(value, remark) or tuple(labelled(remark)))
            case ast.Expr(value=ast.ListComp() as value):
                return Call(ast.unparse(value), (), tuple(named(beginning(remark))))
            case ast.Expr(value=value):
                return Call("", (), tuple(_looked_at(value, remark)))
        return None

    def _keep(self, target: ast.expr, value: ast.expr) -> None:
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        parts = value.elts if isinstance(value, ast.Tuple) else [value] * len(names)
        for name, part in zip(names, parts, strict=False):
            told = ast.unparse(name)
            self.held[told] = value_of(part, self.held)
            made = ast.unparse(part.func) if isinstance(part, ast.Call) else ""
            if f"{made}.forward" in self.signatures:
                self.signatures[told] = self.signatures[f"{made}.forward"]

    def _call(self, call: ast.Call, gives: Named) -> Call:
        signature = self._signature(call)
        own = [arg for arg in signature.args.args if arg.arg != "self"] if signature else []
        notes = {arg.arg: ast.unparse(arg.annotation) for arg in own if arg.annotation}
        names = [arg.arg for arg in own] + [""] * len(call.args)
        nodes = [*zip(names, call.args, strict=False), *((k.arg or "", k.value) for k in call.keywords)]
        given, is_whole = [*self.around], True
        is_told, self.around = bool(given), ()
        if not nodes and "." in ast.unparse(call.func):  # `optimizer.step()`
            given += [(name, array) for name, array in self.held.items() if isinstance(array, Array)]
        for name, node in nodes:
            value = value_of(node, self.held)
            shown = ast.unparse(node) if isinstance(node, ast.Name) else name
            if value is None and not is_told and not isinstance(node, (ast.Constant, ast.Lambda)):
                is_whole &= name in notes and _NO_TENSOR.match(notes[name]) is not None
            given += [(shown, array) for array in arrays_in(value)]
        return Call(ast.unparse(call), tuple(given), gives, is_whole, signature is not None)

    def _signature(self, call: ast.Call) -> ast.FunctionDef | None:
        name = ast.unparse(call.func)
        return self.signatures.get(name) or self.signatures.get(f"{name}.__init__")

    def _results(self, value: ast.expr, remark: str) -> Named:
        """What a remark says that a call gives."""
        read, call = beginning(remark), _call_in(value)
        signature = self._signature(call) if call else None
        returned = ast.unparse(signature.returns) if signature and signature.returns else ""
        is_sizes = ast.unparse(value).endswith(_SIZES) or _OF_SIZES.match(returned)
        beside = labelled(remark) if isinstance(read, (bool, int, float)) else []
        return (is_sizes and tuple(sized(read))) or (*named(read), *beside)


def _looked_at(value: ast.expr, remark: str) -> Iterator[tuple[str, Array]]:
    """What a remark says of names, each by its own."""
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    names = [ast.unparse(part) for part in parts]
    read = beginning(remark)
    each = read if isinstance(read, tuple) and len(read) == len(parts) > 1 else (read,)
    is_sizes = any(name.endswith(_SIZES) for name in names)
    for name, one in zip(names, each, strict=False):
        yield from (sized if is_sizes else named)(one, name.removesuffix(_SIZES))


def _call_in(value: ast.expr) -> ast.Call | None:
    """The call that a line is about, in `list(…)` or before `.shape`, too."""
    match value:
        case ast.Await(value=inner):
            return _call_in(inner)
        case ast.Call(func=ast.Name(id="list" | "tuple" | "len"), args=[inner]):
            return inner if isinstance(inner, ast.Call) else None
        case (
            ast.Attribute(value=ast.Call() as inner) | ast.Call(func=ast.Attribute(value=ast.Call() as inner))
        ):
            return _call_in(inner)
        case ast.Call():
            return value
    return None


def _signatures(code: str) -> dict[str, ast.FunctionDef]:
    """The functions of a start by name, and the methods by class and name."""
    try:
        body = ast.parse(code).body
    except SyntaxError:
        return {}
    found = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    for owner in (node for node in body if isinstance(node, ast.ClassDef)):
        found |= {f"{owner.name}.{n.name}": n for n in owner.body if isinstance(n, ast.FunctionDef)}
    return found
