"""An answer under a new statement: the docstring is the course's, the code below it the learner's."""

import ast
import io
import itertools
import tokenize
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_BEFORE = {tokenize.ENCODING, tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE}


def under(statement: str, answer: str) -> str:
    """The answer with the docstring of the file `statement` in place of its own.

    An answer without a docstring gets one. One that is no Python yet is read as far as its docstring goes.
    """
    given = _docstring(statement)
    if given is None:
        return answer
    text = statement[slice(*given)]
    own = _docstring(answer)
    if "\r\n" in answer:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    if own is None:
        return f"{text}\n\n{answer.lstrip()}"
    return answer[: own[0]] + text + answer[own[1] :]


def _docstring(source: str) -> tuple[int, int] | None:
    """Where a file's docstring begins and ends."""
    starts = [0, *itertools.accumulate(map(len, io.StringIO(source, newline="")))]
    try:
        for token in tokenize.generate_tokens(io.StringIO(source, newline="").readline):
            if token.type == tokenize.STRING and token.string.lstrip("rRuU")[:1] in ("'", '"'):
                (first, begins), (last, ends) = token.start, token.end
                return starts[first - 1] + begins, starts[last - 1] + ends
            if token.type not in _BEFORE:
                return None
    except (tokenize.TokenError, SyntaxError):
        pass
    return None


def lacks(answer: str, start: str) -> list[str]:
    """The functions and classes of a start that an answer does not have, or not with all parameters.

    What is no Python yet lacks nothing: nobody knows what it will have.
    """
    try:
        mine, asked = (dict(_signatures(ast.parse(source).body)) for source in (answer, start))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [
        name if given is None else f"{name}({', '.join(given.names)})"
        for name, given in asked.items()
        if not _has(mine, name, given) and (name.partition(".")[0] in mine or "." not in name)
    ]


class _Signature(NamedTuple):
    """The parameters of a function, and whether it takes any others."""

    names: list[str]
    is_open: bool


def _has(mine: Mapping[str, _Signature | None], name: str, given: _Signature | None) -> bool:
    if name not in mine:
        return False
    found = mine[name]
    return found is None or given is None or found.is_open or set(given.names) <= set(found.names)


def _signatures(body: list[ast.stmt], inside: str = "") -> Iterator[tuple[str, _Signature | None]]:
    """By name what each function and method takes; None of a class."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not inside:
            yield node.name, None
            yield from _signatures(node.body, f"{node.name}.")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            taken = node.args
            named = [a.arg for a in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs) if a.arg != "self"]
            yield f"{inside}{node.name}", _Signature(named, bool(taken.vararg or taken.kwarg))
