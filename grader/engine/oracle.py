"""The oracle of the suite that grades, apart from the suite.

An answer is called by the oracle, and can look at who calls it: up the stack, and into the names there. The
suite holds slow, plain references to compare with, and whoever finds one has right values for free. So the
oracle runs in a module of its own, made from those statements of the suite that it needs. A `Contract` comes
along with no more than what its oracle needs (`grader.checks.contract.contract.APART`).
"""

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from grader.checks import rng
from grader.checks.contract.contract import APART, Contract
from grader.checks.contract.oracle import oracle_of
from grader.checks.error_words import error_line
from grader.core.errors import KataError
from grader.core.timeout import TooSlow, within
from grader.plugin import process_state
from grader.protocol import oracle_codec

Oracle = Callable[[ModuleType, torch.Generator], Any]

NAME, FINE = "oracle", "fine_oracle"
BESIDE = "warm_up"
"""What is run once before the first answer."""


def apart(file: Path) -> ModuleType:
    """A new module with the `oracle` and `fine_oracle` of the suite in `file`, what they use and no more.

    Where the suite writes none, its contracts make them.

    Raises:
        KataError: the suite has no oracle.
    """
    tree = ast.parse(file.read_bytes(), str(file))
    contracts = {name for statement in tree.body for name in _cut(statement)}
    tree.body = _needed(tree.body, [NAME, FINE, BESIDE, *contracts])
    module = ModuleType(f"{NAME}_{file.stem}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # where compilers and pickle look for its functions
    exec(compile(tree, str(file), "exec"), vars(module))
    for name in {NAME, FINE} - vars(module).keys():
        setattr(module, name, oracle_of(_contracts(module), fine=name == FINE))
    if getattr(module, NAME) is None:
        raise KataError("the suite that grades defines no oracle")
    return module


def asked(
    module: ModuleType, answer: ModuleType, slug: str, seed: int, seconds: float
) -> Iterator[tuple[str, oracle_codec.Encoded]]:
    """What each oracle of `module` gives, by its name; each begins with random streams of its own."""
    for name in (NAME, FINE):
        if ask := getattr(module, name):
            rng.seed_globals(seed, f"{slug}::{name}")
            with process_state.kept(), within(seconds):
                told = given(ask, answer, rng.generator(seed, f"{slug}::{name}"))
            yield name, told


def given(ask: Oracle, answer: ModuleType, gen: torch.Generator) -> oracle_codec.Encoded:
    """What an oracle gives, encoded; where one of its cases raises, what it raises stands in its place.

    A case may be a function without parameters that computes it, so that it can fail by itself.
    """
    told = ask(answer, gen)
    if not isinstance(told, dict):
        return oracle_codec.encode(told)
    return ["d", [[str(case), _case(value)] for case, value in told.items()]]


def _case(value: Any) -> oracle_codec.Encoded:
    try:
        return oracle_codec.encode(value() if callable(value) else value)
    except TooSlow:
        raise
    except (Exception, SystemExit) as error:
        return ["e", error_line(error)]


def _contracts(module: ModuleType) -> list[Contract]:
    return [value for value in vars(module).values() if type(value) is Contract]


def _cut(statement: ast.stmt) -> set[str]:
    """Take from a contract what its oracle does not need; the names that it is given."""
    call = statement.value if isinstance(statement, ast.Assign) else None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Contract"):
        return set()
    call.keywords = [keyword for keyword in call.keywords if keyword.arg in APART]
    return _bound(statement)


def _needed(body: Sequence[ast.stmt], roots: Iterable[str]) -> list[ast.stmt]:
    """The statements that bind these names, and those that these mention, in their order."""
    binding: dict[str, set[int]] = {}
    for place, statement in enumerate(body):
        for name in _bound(statement):
            binding.setdefault(name, set()).add(place)
    kept = {n for n, s in enumerate(body) if isinstance(s, ast.ImportFrom) and s.module == "__future__"}
    rest = list(roots)
    while rest:
        for place in binding.pop(rest.pop(), set()) - kept:
            kept.add(place)
            rest += [node.id for node in ast.walk(body[place]) if isinstance(node, ast.Name)]
    return [statement for place, statement in enumerate(body) if place in kept]


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module gives a meaning."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    nodes = list(ast.walk(statement))
    imported = {(n.asname or n.name).partition(".")[0] for n in nodes if isinstance(n, ast.alias)}
    return imported | {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
