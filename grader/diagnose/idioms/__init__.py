"""What beginners write every day and torch cannot mean: told of an error, or of a source that raised none.

Everything told is so by the error's words, the line it came from and what stood there; nothing is guessed
from numbers.
"""

import ast
import functools
import re
from collections.abc import Callable
from typing import ParamSpec

from grader.core.sanitize import message_of
from grader.diagnose.idioms.classes import misnamed
from grader.diagnose.idioms.lacking import of_attribute, of_name
from grader.diagnose.idioms.results import lost_output
from grader.diagnose.idioms.silent import idiom_in
from grader.diagnose.idioms.site import Site, parsed
from grader.diagnose.idioms.slips import SLIPS, SURE, Slip
from grader.diagnose.idioms.syntax import cause_of_syntax as of_syntax
from grader.diagnose.idioms.words import by_words

__all__ = [
    "Site",
    "cause_of_error",
    "cause_of_signature",
    "cause_of_syntax",
    "parsed",
    "silent_idiom",
    "sure_cause",
]

_OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "@": "matmul", "** or pow()": "pow"}
_REFLECTED = re.compile(r"unsupported operand type\(s\) for (.+): '(?:int|float)' and '(\w+)'")
_SHAPES = re.compile(r"shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)")
_NOT_IMPLEMENTED = re.compile(r'"(\w+)" not implemented for \'(\w+)\'')
_DTYPES = {
    "Byte": "uint8",
    "Char": "int8",
    "Short": "int16",
    "Int": "int32",
    "Long": "int64",
    "Half": "float16",
}
_P = ParamSpec("_P")


def _at_no_cost(cause: Callable[_P, str]) -> Callable[_P, str]:
    """A cause is an extra: no source is so strange that its verdict would fail for it."""

    @functools.wraps(cause)
    def told(*args: _P.args, **kwargs: _P.kwargs) -> str:
        try:
            return cause(*args, **kwargs)
        except Exception:
            return ""

    return told


silent_idiom = _at_no_cost(idiom_in)
cause_of_syntax = _at_no_cost(of_syntax)


@_at_no_cost
def sure_cause(error: BaseException, site: Site | None) -> str:
    """What the line itself tells, whatever the exercise; "" where it does not."""
    return _first(SURE, _text(error), site)


@_at_no_cost
def cause_of_error(error: BaseException, site: Site | None = None) -> str:
    """One likely cause, for the errors of which learners make little; "" where there is none.

    Args:
        site: where in the answer it was raised.
    """
    text = _text(error)
    if isinstance(error, NameError) and (told := of_name(error, text, site)):
        return told
    if told := _first(SLIPS, text, site):
        return told
    if told := by_words(text):
        return told
    if isinstance(error, AttributeError) and (told := of_attribute(error, text, site)):
        return told
    if (found := _REFLECTED.search(text)) and found[1] in _OPERATORS and found[2] not in _KNOWN:
        return f"a number on the left needs `__r{_OPERATORS[found[1]]}__` of {found[2]}"
    if not isinstance(error, RuntimeError):  # as NotImplementedError is
        return ""
    if found := _NOT_IMPLEMENTED.search(text):
        operation = re.sub(r"(_lastdim)?(_kernel)?(_impl)?(_(cpu|cuda|mps)_?)?$", "", found[1])
        dtype = _DTYPES.get(found[2], found[2].lower())
        return f"torch cannot do this ({operation}) in {dtype}: convert the tensor to another dtype before"
    if found := _SHAPES.search(text):
        if site and (holder := site.holder(ast.FunctionDef)) and (told := lost_output(holder, site.tree)):
            return told
        return f"{found[1]} features meet {found[2]}: is a layer, or a matrix, made for another number?"
    return ""


def _text(error: BaseException) -> str:
    return message_of(error)[:_MOST]


_MOST = 1000
"""Characters of a message that are looked at: patterns take longer than in proportion."""


def _first(slips: tuple[Slip, ...], message: str, site: Site | None) -> str:
    found = (slip(message, site) for slip in slips) if site else ()
    return next((told for told in found if told), "")


_KNOWN = ("NoneType", "tuple", "dict", "str", "set", "type", "Size", "builtin_function_or_method", "method",
          "function", "Tensor")  # fmt: skip
"""What is no class of an answer's own."""


@_at_no_cost
def cause_of_signature(message: str, tree: ast.Module | None) -> str:
    """Why a call that the check makes does not fit the answer's class or function; "" where nothing says."""
    found = re.search(r"(?:(\w+)\.)?(\w+)\(\) (?:takes|got|missing)", message)
    for owner in tree.body if tree and found else []:
        if not isinstance(owner, ast.ClassDef) or not found or owner.name not in (found[1], found[2]):
            continue
        for method in owner.body:
            if isinstance(method, ast.FunctionDef) and method.name == found[2] and not method.decorator_list:
                args = [*method.args.posonlyargs, *method.args.args]
                if not method.args.vararg and (not args or args[0].arg != "self"):
                    first = ", ".join(["self", *(a.arg for a in args)])
                    return f"`self` is missing: `def {method.name}({first})`"
        return misnamed(owner)
    return ""
