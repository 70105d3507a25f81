"""Where private names of torch, pytest, CPython and others may stand: in a package's `_compat.py`.

A name is private where a part of it begins with a single underscore and is not ours: `torch._C`,
`op._schema`, `getattr(x, "_hooks")`, `"torch._dynamo"`. An attribute is ours where its file defines the name;
an import, where it is of this repository. Names of operators (`torch.ops.aten._to_copy`, in tables
`"_to_copy"`) are data: they are looked up in torch's schemas. So are keys of a state dict.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.course import paths

TREES = ("grader", "exercises", "solutions", "tests/public", "tests/hidden")
OURS = ("grader", "tests")

DOCUMENTED = {
    "_asdict": "collections.namedtuple",
    "_exit": "os",
    "_fields": "collections.namedtuple, ctypes",
    "_foreach_mul_": "torch, Foreach Operations",
    "_foreach_norm": "torch, Foreach Operations",
    "_getframe": "sys",
    "_make": "collections.namedtuple",
    "_replace": "collections.namedtuple",
    "torch._logging": "torch, torch._logging (set_logs)",
    "torch.utils._python_dispatch.TorchDispatchMode": "torch, Extending PyTorch",
}
"""Public in spite of their underscore: their owner's manual has them, where it says here."""

KEPT = {
    "exercises/e09_debugging/first_bad_gradient.py": "its start imports what walks nested data",
    "solutions/e09_debugging/first_bad_gradient.py": "its start imports what walks nested data",
    "solutions/e08_compile/memory_timeline.py": "it follows storages, below all public names",
    "solutions/e08_compile/dynamic_batch.py": "torch's manual calls torch._dynamo.mark_dynamic",
    "tests/public/e08_compile/steps/test_compile_it.py": "it keeps the default backend out of reach",
    "tests/hidden/e07_distributed/test_process_group.py": "it plays CUDA; and tells a group's time-out",
}
"""Files of exercises that may keep theirs, and why. An answer has no `_compat.py`."""

_BY_NAME = {"getattr", "setattr", "hasattr", "delattr"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and len(name) > 1


def defined(tree: ast.AST) -> set[str]:
    """The names that a file defines, be it as an attribute."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is(node.value, "self"):
            found.add(node.attr)
    return found


def private_names(text: str) -> Iterator[str]:
    """Every use of a private name that is not the file's own, with its line: "7: torch._dynamo"."""
    tree = ast.parse(text)
    own = defined(tree)
    for node in ast.walk(tree):
        for name in _names(node, own):
            plain = name in DOCUMENTED or name.rpartition(".")[2] in DOCUMENTED
            if not plain and name.split(".")[0] not in OURS and any(map(is_private, name.split("."))):
                yield f"{node.lineno}: {name}"  # type: ignore[attr-defined]


def _names(node: ast.AST, own: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Attribute) and is_private(node.attr):
        text = ast.unparse(node)
        if (node.attr not in own or text.startswith("super()")) and not text.startswith("torch.ops."):
            yield f"….{node.attr}" if "(" in text else text
    elif isinstance(node, ast.Call) and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
        by_name = _is(node.func, *_BY_NAME) or getattr(node.func, "attr", "") in _BY_NAME
        if by_name and node.args[1].value not in own:
            yield str(node.args[1].value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from re.findall(r"\A(?:torch|_pytest)(?:\.\w+)+\Z", node.value)
        yield from re.findall(r"^(?:from|import) ([\w.]+)", node.value, re.MULTILINE)


def _is(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def files() -> Iterator[Path]:
    for tree in TREES:
        yield from (file for file in sorted((paths.ROOT / tree).rglob("*.py")) if file.name != "_compat.py")


def test_private_names_stand_in_one_place() -> None:
    found = {
        file.relative_to(paths.ROOT).as_posix(): list(private_names(file.read_text("utf-8")))
        for file in files()
    }
    others = [f"{name}:{use}" for name, uses in found.items() for use in uses if name not in KEPT]
    assert not others, "put it into the package's _compat.py; suites find a public helper in grader.checks"
    assert all(found[name] for name in KEPT), "needs no exception any more"


@pytest.mark.parametrize(
    "text",
    [
        "import torch._dynamo",
        "from _pytest.runner import runtestprotocol",
        "from torch.utils import _pytree",
        "torch._C.DisableTorchFunctionSubclass()",
        "x.grad_fn._version",
        "f(x)._schema.name",
        "class A(B):\n    def _launch(self): super()._launch()",
        'getattr(item, "_fixtureinfo", None)',
        'monkeypatch.setattr(torch.cuda, "_lazy_init", None)',
        'import_module("torch._dynamo")',
        'CODE = """\nfrom torch.utils._pytree import tree_map"""',
    ],
)
def test_a_private_name_is_found(text: str) -> None:
    assert list(private_names(text))


@pytest.mark.parametrize(
    "text",
    [
        "from torch.utils import data as _data",
        "from grader.checks import _compat",
        "os._exit(0)",
        "x.__dict__",
        "for _, x in pairs: _(x)",
        "class A:\n    def __init__(self): self._x = 1\n    def x(self): return self._x",
        "torch.ops.aten._to_copy.default(x)",
    ],
)
def test_a_name_of_our_own_is_no_find(text: str) -> None:
    assert not list(private_names(text))
