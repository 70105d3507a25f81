"""docs/checks.md, every helper that suites may import: `python -m grader.authoring.reference` writes it anew.

It is made of `__all__`, signatures and docstrings, all read from the source: nothing is imported.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.course import paths

CHECKS = "grader.checks"
COLUMNS = 110
PAGE = paths.ROOT / "docs" / "checks.md"
GROUPS = {
    "Contracts": (
        "contract.contract",
        "contract.given",
        "contract.computed",
        "contract.variants",
        "contract.conduct",
        "contract.layers",
        "contract.steps",
    ),
    "Values": ("values", "numbers", "rounding", "failure"),
    "Gradients": ("gradients",),
    "Errors": ("raises",),
    "Side effects": ("side_effects",),
    "Views and memory": ("cost.memory",),
    "Cost": ("cost.operations", "cost.steps", "cost.dispatch"),
    "Precision": ("cost.precision",),
    "Modules": ("registered",),
    "Devices": ("devices", "devices.traffic"),
    "Ranks": ("distributed", "distributed.collectives", "distributed.report", "distributed.elsewhere"),
    "Data loaders": ("dataloader.workers",),
    "torch.compile": ("compile.graphs",),
    "asyncio": ("aio.clock", "aio.asgi"),
}
"""What an author wants to check, and the modules whose helpers do so."""

_INTRODUCTION = """\
# What suites assert with

Suites import these names, and no others, from `grader.checks` and the modules named here. "Fail" means: raise
`CheckFailure`, whose message is the feedback. `call` is the call as a learner would write it. Examples take
the fixtures `answer`, `gen` and `device` ([exercise.md](exercise.md#suites)); the tests run each on an
answer that is right, and on one that it must tell apart. `python -m grader.authoring.reference` writes this
page."""

_SECTION = re.compile(r"^(Args|Attributes|Raises|Returns|Example):$")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class Helper:
    """A public name: the module that suites import it from, and the one that defines it."""

    module: str
    name: str
    home: str

    @property
    def doc(self) -> str:
        return _doc(self.home, self.name)

    @property
    def example(self) -> str:
        """The code of its example; "" where it has none."""
        return _sections(self.doc).get("Example", "")


def helpers() -> list[Helper]:
    """Every name in an `__all__` of grader.checks, in the order of its modules."""
    root = paths.ROOT / CHECKS.replace(".", "/")
    modules = sorted(_name(file) for file in root.rglob("*.py"))
    return [Helper(module, name, _home(module, name)) for module in modules for name in _stated(module)]


def page() -> str:
    """The whole page, as Markdown."""
    groups = {group: list(_members(homes)) for group, homes in GROUPS.items()}
    contents = [
        f"- {group}: " + ", ".join(f"[`{h.name}`](#{h.name.lower()})" for h in members)
        for group, members in groups.items()
    ]
    parts = [_INTRODUCTION, "\n".join(contents)]
    for group, members in groups.items():
        parts += _group(group, members)
    return "\n\n".join(parts) + "\n"


def _members(homes: tuple[str, ...]) -> Iterator[Helper]:
    for home in homes:
        yield from (helper for helper in helpers() if helper.home == f"{CHECKS}.{home}")


def _group(group: str, members: list[Helper]) -> Iterator[str]:
    yield f"## {group}"
    docs = {h.home: ast.get_docstring(_tree(h.home)) or "" for h in members}
    yield " ".join(doc.partition("\n\n")[0] for doc in docs.values())
    modules = sorted({h.module for h in members})
    yield _code("\n".join(_imports(m, [h.name for h in members if h.module == m]) for m in modules))
    told = {h.name for h in helpers()}
    for helper in members:
        yield f"### `{helper.name}`"
        yield from _described(helper.home, helper.name, told)
        yield _code(helper.example)


def _imports(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(sorted(names))}"
    if len(line) <= COLUMNS:
        return line
    return "\n".join([f"from {module} import (", *(f"    {name}," for name in sorted(names)), ")"])


def _described(home: str, name: str, told: set[str]) -> Iterator[str]:
    """Signature and docstring, and those of our types that it gives, where they are not yet `told`."""
    node = _defined(home)[name]
    yield _code(_signature(home, node))
    yield from _prose(_doc(home, name))
    if methods := "\n".join(_methods(node)):
        yield methods
    for given in _given(node):
        if given not in told and (where := _home(home, given)) and _doc(where, given):
            told.add(given)
            yield f"`{given}`:"
            yield from _described(where, given, told)


def _prose(doc: str) -> Iterator[str]:
    """A docstring as Markdown, without its example."""
    for title, text in _sections(doc).items():
        if title == "":
            yield text
        elif title != "Example":
            entries = [re.sub(r"\n +", "\n  ", entry) for entry in re.split(r"\n(?=\S)", text)]
            listed = "\n".join(re.sub(r"^([\w, ]+): ", r"- `\1`: ", entry) for entry in entries)
            yield f"{title}:\n\n{listed}"


def _sections(doc: str) -> dict[str, str]:
    """A docstring by its headings; what stands before the first is under ""."""
    found: dict[str, list[str]] = {"": []}
    lines = found[""]
    for line in doc.splitlines():
        if heading := _SECTION.match(line):
            lines = found.setdefault(heading[1], [])
        else:
            lines.append(line)
    return {title: textwrap.dedent("\n".join(part)).strip("\n") for title, part in found.items()}


def _methods(node: Definition) -> Iterator[str]:
    """The public methods and properties of a class, as far as they have docstrings."""
    for part in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(part, ast.FunctionDef) and not part.name.startswith("_") and ast.get_docstring(part):
            given = "" if part.decorator_list else f"({', '.join(a.arg for a in part.args.args[1:])})"
            yield f"- `.{part.name}{given}`: " + str(ast.get_docstring(part)).replace("\n", "\n  ")


def _given(node: Definition) -> list[str]:
    """The names in what a function returns."""
    returns = node.returns if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else None
    return [part.id for part in ast.walk(returns) if isinstance(part, ast.Name)] if returns else []


def _fields(node: Definition) -> list[ast.AnnAssign]:
    body = node.body if isinstance(node, ast.ClassDef) else []
    return [part for part in body if isinstance(part, ast.AnnAssign)]


def _signature(home: str, node: Definition) -> str:
    def text(part: ast.AST) -> str:
        return ast.get_source_segment(_source(home), part) or ""

    if isinstance(node, ast.AnnAssign):
        return f"{text(node.target)}: {text(node.annotation)}"
    if isinstance(node, ast.Assign):
        return text(node)
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    head = "\n".join(_source(home).splitlines()[first - 1 : node.body[0].lineno - 1])
    fields = [f"    {text(field)}" for field in _fields(node)]
    return "\n".join([re.sub(r":(  #.*)?$", ":" if fields else "", head), *fields])


def _code(text: str) -> str:
    return f"```python\n{text}\n```"


def _doc(home: str, name: str) -> str:
    """The docstring of a definition: for a constant, the text that follows it."""
    node = _defined(home)[name]
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return ast.get_docstring(node) or ""
    body = _tree(home).body
    match body[body.index(node) + 1 :]:
        case [ast.Expr(ast.Constant(str(text))), *_]:
            return inspect.cleandoc(text)
    return ""


def _home(module: str, name: str) -> str:
    """The module of grader.checks that defines what another one has under a name; "" for what is not ours."""
    if name in _defined(module):
        return module
    for node in _tree(module).body:
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            return _home(str(node.module), name) if f"{node.module}.".startswith(f"{CHECKS}.") else ""
    return ""


@cache
def _defined(module: str) -> dict[str, Definition]:
    found: dict[str, Definition] = {}
    for node in _tree(module).body:
        if isinstance(node, ast.Assign):
            found |= {ast.unparse(target): node for target in node.targets}
        elif isinstance(node, ast.AnnAssign):
            found[ast.unparse(node.target)] = node
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found[node.name] = node
    return found


def _stated(module: str) -> list[str]:
    """The names in a module's `__all__`."""
    node = _defined(module).get("__all__")
    return list(ast.literal_eval(node.value)) if isinstance(node, ast.Assign) else []


def _name(file: Path) -> str:
    parts = file.relative_to(paths.ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_source(module))


@cache
def _source(module: str) -> str:
    path = paths.ROOT / module.replace(".", "/")
    return (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text("utf-8")


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
