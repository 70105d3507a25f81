"""The oracle of the suite that grades, apart from the suite.

An answer is called by the oracle, and can look at who calls it: up the stack, and into the names there. The
suite holds slow, plain references to compare with, and whoever finds one has right values for free. So the
oracle runs in a module of its own, made from those statements of the suite that it needs. A `Contract` comes
along with no more than what its oracle needs (`grader.checks.contract.contract.APART`).
"""

import ast
import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from grader.checks import rng
from grader.checks.contract.contract import APART, Contract
from grader.checks.contract.oracle import example_of, oracle_of
from grader.checks.error_words import error_line
from grader.core.errors import KataError
from grader.core.timeout import TooSlow, within
from grader.plugin import process_state
from grader.protocol import oracle_codec

Oracle = Callable[[ModuleType, torch.Generator], Any]

NAME, FINE, EXAMPLE = "oracle", "fine_oracle", "example_oracle"
BESIDE = "warm_up"
"""What is run once before the first answer."""


def apart(*suites: Path) -> ModuleType:
    """A new module with the `oracle` and `fine_oracle` of the last of the suites, what they use and no more.

    Where it writes none, its contracts make them. Those of all suites make the `example_oracle`.

    Raises:
        KataError: the suite has no oracle.
    """
    modules = [_alone(file) for file in suites]
    module = modules[-1]
    for name in {NAME, FINE} - vars(module).keys():
        setattr(module, name, oracle_of(_contracts(module), fine=name == FINE))
    if not hasattr(module, EXAMPLE):
        setattr(module, EXAMPLE, example_of([contract for each in modules for contract in _contracts(each)]))
    if getattr(module, NAME) is None:
        raise KataError("the suite that grades defines no oracle")
    return module


def _alone(file: Path) -> ModuleType:
    """A new module of those statements of a suite that its oracles and contracts need."""
    tree = ast.parse(file.read_bytes(), str(file))
    contracts = {name for statement in tree.body for name in _cut(statement)}
    tree.body = _needed(tree.body, [NAME, FINE, EXAMPLE, BESIDE, *contracts])
    module = ModuleType(f"{NAME}_{file.parent.parent.name}_{file.stem}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # where compilers and pickle look for its functions
    exec(compile(tree, str(file), "exec"), vars(module))
    return module


def ask(
    module: ModuleType, answer: ModuleType, slug: str, seed: int, seconds: float, tell: Callable[..., None]
) -> None:
    """Tell what each oracle of `module` gives, encoded, by its name; each has random streams of its own."""
    for name in (NAME, EXAMPLE, FINE):
        if oracle := getattr(module, name):
            with process_state.kept(), within(seconds):
                put(oracle, name, answer, seed, slug, tell)


def put(
    oracle: Oracle, name: str, answer: ModuleType, seed: int, slug: str, tell: Callable[..., None]
) -> None:
    """Tell what one oracle gives.

    Of a dict the names of its cases are told first, and then what they give, in their order: an answer that
    is called finds no name of a case up the stack. A case may be a function that computes it, so that it can
    fail by itself; it may take a generator, which no other case draws from. Where one raises, what it raises
    stands in its place.
    """
    rng.seed_globals(seed, f"{slug}::{name}")
    told = oracle(answer, rng.generator(seed, f"{slug}::{name}"))
    if not isinstance(told, dict):
        tell(**{name: oracle_codec.encode(told)})
        return
    tell(**{f"{name}_cases": [str(case) for case in told]})
    cases = [*told.values()]
    del told
    tell(**{name: [_case(case, seed, f"{slug}::{name}::{n}") for n, case in enumerate(cases)]})


def _case(value: Any, seed: int, stream: str) -> oracle_codec.Encoded:
    try:
        if callable(value):
            rng.seed_globals(seed, stream)
            value = value(rng.generator(seed, stream)) if _draws(value) else value()
        return oracle_codec.encode(value)
    except TooSlow:
        raise
    except (Exception, SystemExit) as error:
        return ["e", error_line(error)]


def _draws(case: Callable[..., Any]) -> bool:
    """Whether a case takes a generator: a parameter without a default."""
    parameters = inspect.signature(case).parameters.values()
    return any(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)


def _contracts(module: ModuleType) -> list[Contract]:
    return [value for value in vars(module).values() if type(value) is Contract]


def _cut(statement: ast.stmt) -> set[str]:
    """Take from a contract what its oracle does not need; the names that it is given."""
    call = statement.value if isinstance(statement, ast.Assign) else None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Contract"):
        return set()
    call.keywords = [keyword for keyword in call.keywords if keyword.arg in APART or _is_example(keyword)]
    return _bound(statement)


def _is_example(keyword: ast.keyword) -> bool:
    """Whether this is a contract's worked example, of which the calls alone are kept: no result is here."""
    pairs = keyword.value.elts if isinstance(keyword.value, ast.List) else [keyword.value]
    held = [pair for pair in pairs if isinstance(pair, ast.Tuple) and len(pair.elts) == 2]
    if keyword.arg != "example" or len(held) < len(pairs):
        return False
    for pair in held:
        pair.elts[1] = ast.copy_location(ast.Constant(None), pair.elts[1])
    return True


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
