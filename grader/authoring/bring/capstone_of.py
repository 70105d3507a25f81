"""The files of a capstone, made of a repository and its patches: everything but the row's place."""

import ast
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from grader.authoring.bring import imports, own_tests, places, texts
from grader.authoring.bring.own_tests import Taken
from grader.authoring.bring.patches import Patch
from grader.authoring.bring.repository import Repository
from grader.core.errors import KataError
from grader.core.packed import Files
from grader.course import project
from grader.course.exercise import Exercise, Tree

_TO_RUN = ("main", "run", "train")
"""What functions are called that run a program."""


@dataclass(frozen=True)
class Made:
    """The files of each of the mirrored places, by their paths from there; a suite is one, under ""."""

    files: Mapping[Tree, Files]
    taken: Mapping[str, Taken]
    """What was found for each bug in the tests of the repository."""
    bugs: tuple[Patch, ...]
    """With imports as they are in the solution."""


def made(exercise: Exercise, brought: Repository, bugs: Iterable[Patch]) -> Made:
    """All that is written of a capstone, before its start is made; raises KataError where it cannot be."""
    package = brought.name if project.START in brought.program else ""
    modules = imports.own(brought.program)
    top = {project.START: brought.program.get(project.START, b"").decode()}
    head = _without_docstring(imports.all_relative(top, modules, package)[project.START])
    patched = [_relative(bug, modules, package) for bug in bugs]
    right = imports.all_relative(sources(brought.program), modules, package)
    changes = places.specimens(patched, right)
    found = {bug.name: own_tests.taken(brought.tests, bug.name, modules, package) for bug in patched}
    taken = {name: one for name, one in found.items() if one}
    words = {"slug": exercise.slug, "section": exercise.section, "module": _module_to_run(right)}
    files: dict[Tree, Files] = {
        "exercises": {
            project.START: f"{texts.STATEMENT.format(**words)}{head}".encode(),
            **{name: _as_package(page, exercise.slug, right) for name, page in brought.pages.items()},
            **brought.data,
        },
        "solutions": {
            **brought.program,
            **{name: text.encode() for name, text in right.items()},
            project.START: head.encode(),
        },
        "specimens": {"": _specimens(patched, changes, taken).encode()},
        "public": {"": texts.PUBLIC.format(run=_run(right), **words).encode()},
        "hidden": {"": _hidden(exercise.slug, patched, taken).encode()},
    }
    return Made(files, taken, tuple(patched))


def sources(program: Files) -> dict[str, str]:
    """The texts that a patch may change: what is no text, or holds the statement, is none."""
    read = {name: held.decode("utf-8", "replace") for name, held in program.items() if name != project.START}
    return {name: text for name, text in read.items() if text.encode() == program[name]}


def _relative(bug: Patch, modules: Collection[str], package: str) -> Patch:
    try:
        return replace(bug, wrong=imports.all_relative(bug.wrong, modules, package))
    except KataError as broken:
        raise KataError(f"{bug.where}: {broken}") from None


def _without_docstring(text: str) -> str:
    """The code of an `__init__.py`, where the statement is to stand above it."""
    body = ast.parse(text).body
    if not body or ast.get_docstring(ast.Module(body, [])) is None:
        return text
    return "\n".join(text.split("\n")[body[0].end_lineno or 0 :]).lstrip("\n")


def _as_package(page: bytes, slug: str, right: Mapping[str, str]) -> bytes:
    """A page with `python -m rings.train` where it says `python train.py`, which works no longer."""

    def told(found: re.Match[bytes]) -> bytes:
        name = found["file"].decode()
        return b"python -m %b" % f"{slug}.{_dotted(name)}".encode() if name in right else found[0]

    return re.sub(rb"\bpython3? (?P<file>[\w/]+\.py)\b", told, page)


def _module_to_run(right: Mapping[str, str]) -> str:
    """The module that runs when it is called, by its dotted name."""
    found = (name for name, text in right.items() if "__main__" in text or name.endswith("__main__.py"))
    return next(map(_dotted, found), "main")


def _dotted(name: str) -> str:
    return name.removesuffix(".py").replace("/", ".")


def _run(right: Mapping[str, str]) -> str:
    """A call that runs the program; where none is known, what imports each of its files."""
    for name, text in right.items():
        for node in ast.parse(text).body if name.endswith(".py") else ():
            match node:
                case ast.FunctionDef(name=called, args=args) if called in _TO_RUN:
                    if len(args.args) == len(args.defaults):
                        return f"answer.{_dotted(name)}.{called}()"
    parts = [f"answer.{_dotted(name)}" for name in right if name.endswith(".py") and "__" not in name]
    return f"parts = [{', '.join(parts)}]"


def _specimens(bugs: Iterable[Patch], changes: Mapping[str, str], taken: Mapping[str, Taken]) -> str:
    told = []
    for bug in bugs:
        said = {*taken[bug.name].words} if bug.name in taken else set()
        words = _quoted(said.pop()) if len(said) == 1 else texts.WORDS
        about = bug.about or texts.ABOUT
        told.append(texts.BUG.format(name=bug.name, words=words, about=about, changes=changes[bug.name]))
    return "\n".join(told)


def _quoted(words: str) -> str:
    """As they stand between the quotes of a title, on one line."""
    return " ".join(words.split()).replace("\\", "\\\\").replace('"', '\\"')


def _hidden(slug: str, bugs: Iterable[Patch], taken: Mapping[str, Taken]) -> str:
    above: dict[str, None] = {"import torch": None}
    checks = []
    for bug in bugs:
        one = taken.get(bug.name, Taken())
        above |= dict.fromkeys(one.above)
        title = own_tests.TITLE + (f"; {one.why}: take over what it looks at" if one.why else "")
        checks.append((one.source or texts.CHECK.format(name=bug.name, title=title)).strip("\n"))
    imported = "".join(f"{line}\n" for line in above if line.startswith(("import ", "from ")))
    rest = [line for line in above if not line.startswith(("import ", "from "))]
    head = texts.HIDDEN.format(slug=slug, imports=imported)
    return "\n\n\n".join([head.rstrip("\n"), *rest, *checks, texts.ORACLE])
