"""A repository's own tests, taken over as checks of an answer where that takes no more than other names."""

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from grader.authoring.bring import imports
from grader.core.errors import KataError

TITLE = "TODO: what is right, in a sentence for a learner"
WORDS = "TODO: what is wrong, in words for a learner"
_COLUMNS = 100
_FIXTURES = ("tmp_path", "monkeypatch", "capsys")
_NOT_HERE = ("tests", "test", "conftest")
"""Where tests have helpers that do not come along."""


@dataclass(frozen=True)
class Taken:
    """A check's source, what it needs above it, and what its assertions say; or why it is not taken over."""

    source: str = ""
    above: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    why: str = ""


@dataclass
class _Module:
    """A file of tests: what it defines or imports, and what names of the program are in a suite."""

    file: str
    text: str
    defined: dict[str, ast.stmt] = field(default_factory=dict)
    ours: dict[str, str] = field(default_factory=dict)


def taken(tests: Mapping[str, str], name: str, modules: Collection[str], package: str = "") -> Taken | None:
    """The test of a bug, `test_NAME`, or the only one in `test_NAME.py`; None where there is none."""
    for file, text in tests.items():
        is_its_own = file.rpartition("/")[2] == f"test_{name}.py"
        if not is_its_own and not re.search(rf"\bdef test_{name}\b", text):
            continue
        try:
            module = _read(file, text, modules, package)
        except SyntaxError as broken:
            return Taken(why=f"{file}:{broken.lineno} is no Python")
        tests_in = [n for key, n in module.defined.items() if key.startswith("test_")]
        found = [n for n in tests_in if getattr(n, "name", "") == f"test_{name}"] or tests_in
        if len(found) == 1 and isinstance(found[0], ast.FunctionDef):
            return _adapted(module, found[0], f"test_{name}")
        return Taken(why=f"{file} has {len(found)} tests")
    return None


def _read(file: str, text: str, modules: Collection[str], package: str) -> _Module:
    module = _Module(file, text)
    for node in ast.parse(text).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                _bind(module, node, alias, modules, package)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            module.defined[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            module.defined[node.targets[0].id] = node
    return module


def _bind(
    module: _Module,
    node: ast.Import | ast.ImportFrom,
    alias: ast.alias,
    modules: Collection[str],
    package: str,
) -> None:
    """Note what a name is that is imported."""
    first = alias.name.partition(".")[0]
    if isinstance(node, ast.ImportFrom):
        bound, whole = alias.asname or alias.name, f"{node.module}.{alias.name}"
    else:  # `import tiny.model` is for `tiny`
        bound, whole = alias.asname or first, alias.name if alias.asname else first
    inside = imports.inside(whole, modules, package)
    if inside is not None:
        module.ours[bound] = f"answer.{inside}".rstrip(".")
    elif whole.partition(".")[0] not in _NOT_HERE and not getattr(node, "level", 0):
        module.defined[bound] = node


def _adapted(module: _Module, test: ast.FunctionDef, name: str) -> Taken:
    try:
        source = _taken_out(module, test)
        above: dict[str, str] = {}
        for used in _used(test):
            if used not in module.ours:
                _gather(module, used, above)
        source, words = _told(_renamed(source, module.ours))
    except KataError as other:
        return Taken(why=f"{module.file}:{test.lineno} has {other}")
    given = ", ".join(["answer", *(arg.arg for arg in test.args.args)])
    source = re.sub(r"^def \w+\([^)]*\)", f"def {name}({given})", source)
    if ast.get_docstring(test) is None:
        lines = source.split("\n")
        at = test.body[0].lineno - test.lineno
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        source = "\n".join([*lines[:at], f'{indent}"""{TITLE}."""', *lines[at:]])
    return Taken(source, tuple(above.values()), words)


def _taken_out(module: _Module, test: ast.FunctionDef) -> str:
    """Its source; raises KataError where it takes more than a suite has."""
    if test.decorator_list:
        raise KataError("a decorator")
    if any(isinstance(node, (ast.Import, ast.ImportFrom)) for node in ast.walk(test)):
        raise KataError("an import in it")
    if strange := [arg.arg for arg in test.args.args if arg.arg not in _FIXTURES]:
        raise KataError(f"the fixture {strange[0]}")
    if test.body[0].lineno == test.lineno:
        raise KataError("no lines of its own")
    return _lines(module, test)


def _used(node: ast.AST) -> list[str]:
    """The names that it takes from around it, in their order."""
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    bound = {n.id for n in names if not isinstance(n.ctx, ast.Load)}
    bound |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    loads = dict.fromkeys(n.id for n in names if isinstance(n.ctx, ast.Load))
    return [name for name in loads if name not in bound and not hasattr(builtins, name)]


def _gather(module: _Module, name: str, above: dict[str, str]) -> None:
    """Add what a name stands for, behind what that uses; raises KataError where it is not to be had."""
    if name in module.ours:
        raise KataError("a helper that uses the program")
    if name not in module.defined:
        raise KataError(f"{name}, which its file does not define")
    node = module.defined[name]
    if name in above:
        return
    above[name] = ""  # it may use itself
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        for used in _used(node):
            _gather(module, used, above)
    del above[name]
    above[name] = _lines(module, node)


def _lines(module: _Module, node: ast.stmt) -> str:
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
    return "\n".join(module.text.split("\n")[first - 1 : node.end_lineno])


def _renamed(source: str, ours: Mapping[str, str]) -> str:
    """With each name of a part of the program as a suite has it: `answer.model.GPT`."""
    nodes = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Name) and n.id in ours]
    if any(ast.get_source_segment(source, node) != node.id for node in nodes):  # Python 3.11, in an f-string
        raise KataError("a text with a name of the program in braces")
    return _replaced(source, ((node, ours[node.id]) for node in nodes))


def _told(source: str) -> tuple[str, tuple[str, ...]]:
    """With `expect_that` in the place of each assertion; and what they say."""
    new: list[tuple[ast.stmt, str]] = []
    words = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assert):
            said = ast.get_source_segment(source, node.msg) if node.msg else f'"{WORDS}"'
            test = ast.get_source_segment(source, node.test)
            new.append((node, _call(f"bool({test})", said or "", node.col_offset)))
            if isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str):
                words.append(node.msg.value)
    return _replaced(source, new), tuple(words)


def _call(test: str, said: str, column: int) -> str:
    """A call of `expect_that`, on a line of its own for each argument where one would be too long."""
    call = f"expect_that({test}, {said})"
    if column + len(call) <= _COLUMNS:
        return call
    indent = " " * column
    return f"expect_that(\n{indent}    {test},\n{indent}    {said},\n{indent})"


def _replaced(source: str, new: Iterable[tuple[ast.expr | ast.stmt, str]]) -> str:
    """The source with these nodes written otherwise."""
    text = source.encode()
    starts = [0]
    for line in text.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    for node, written in sorted(new, key=lambda each: (-each[0].lineno, -each[0].col_offset)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        text = text[:start] + written.encode() + text[end:]
    return text.decode()
