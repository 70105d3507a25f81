"""The audit's reading part: files and catalog, signatures and docstrings, hints. Runs nothing."""

import ast
import re
from collections.abc import Container, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Literal

from grader.authoring import capstone, statement
from grader.course import paths, project, sources, starts
from grader.course.catalog import Catalog, Section
from grader.course.exercise import STEPS, Exercise, Tree
from grader.course.rows import SECTION, STEPS_FILE, row_file, rows_of
from grader.learner import seen
from grader.records import route

_HOUSEKEEPING = {
    "__init__.py",
    "__pycache__",
    "conftest.py",
    "README.md",
    seen.FILE,
    SECTION,
    STEPS,
    STEPS_FILE,
}
MOST_STEPS = 9
"""In a row, before there is something to practise them on."""
_PATHS = ("first", "core", "further")
TODO = "TODO: "
_WRITTEN: tuple[Literal["exercises"], Literal["solutions"]] = ("exercises", "solutions")
_ORDER_OF_WORK: tuple[Tree, ...] = ("exercises", "solutions", "specimens", "public", "hidden")


def problems(catalog: Catalog, exercises: tuple[Exercise, ...]) -> Iterator[tuple[str, str]]:
    """Where and what: everything in the files of `exercises` that does not fit together."""
    for section in catalog.sections:
        if any(e.section == section.name for e in exercises):
            yield from _section_problems(section)
            yield from _needs_problems(catalog, section)
            yield from _reading_problems(catalog, section)
    for exercise in exercises:
        missing = [tree for tree in exercise.trees if not exercise.file(tree).is_file()]
        for tree in missing:
            yield exercise.slug, f"{paths.shown(exercise.file(tree))} is missing"
        if not missing:
            yield from _start_problems(exercise)
            yield from _agreement_problems(exercise)
            for problem in statement.problems(exercise):
                yield exercise.slug, problem
            yield from _to_do(exercise)
            yield from _row_problems(exercise)
            yield from _hint_problems(exercise)
            for problem in capstone.problems(exercise):
                yield exercise.slug, problem


def _section_problems(section: Section) -> Iterator[tuple[str, str]]:
    if len({e.root for e in section.exercises}) == 1:  # of several sources, none knows the others' order
        yield from _order_problems(section)
    chapters = list(filter(Path.is_file, sources.each("exercises", section.name, "README.md")))
    if not chapters:
        yield section.name, "the chapter has no README.md"
    for chapter in chapters:
        for line in _left(chapter):
            yield section.name, line
    known = {e.place(tree) for e in section.exercises for tree in e.trees}
    for folder in sorted({file.parent for file in known}):
        for file in sorted(folder.iterdir()) if folder.is_dir() else ():
            if file not in known and file.name not in _HOUSEKEEPING:
                yield section.name, f"{paths.shown(file)} belongs to no exercise in the catalog"


def _order_problems(section: Section) -> Iterator[tuple[str, str]]:
    order = [_PATHS.index(e.path) for e in section.exercises]
    if order != sorted(order):
        yield section.name, "a core exercise comes after a further one"


def _needs_problems(catalog: Catalog, section: Section) -> Iterator[tuple[str, str]]:
    place = {e.slug: index for index, e in enumerate(catalog.exercises)}
    for exercise in section.exercises:
        for need in exercise.needs:
            if need not in place:
                yield exercise.slug, f"needs {need!r}, which is no exercise"
            elif place[need] >= place[exercise.slug]:
                yield exercise.slug, f"needs {need!r}, which does not come earlier"


def _reading_problems(catalog: Catalog, section: Section) -> Iterator[tuple[str, str]]:
    """What a first reader, who meets easy exercises among the steps, would meet too early, or not at all."""
    rows = {e.slug: e for e in catalog.exercises}
    easy = [e for e in section.exercises if e.is_easy]
    for exercise in easy if any(e.is_step for e in rows.values()) else ():
        for need in filter(None, map(rows.get, exercise.needs)):
            why = "is optional" if need.optional else "" if need.is_step or need.is_easy else "comes later"
            if why:
                yield exercise.slug, f"is easy (difficulty = 1) and needs {need.slug!r}, which {why}"
    read = [e for e in route.like_a_book(catalog) if e.section == section.name and not e.optional]
    for is_step, held in groupby(read, lambda e: e.is_step):
        steps = [e.slug for e in held] if is_step else []
        if len(steps) > MOST_STEPS or (steps and not easy):
            told = f"no easy exercise (difficulty = 1) among {len(steps)} steps, {steps[0]} to {steps[-1]}"
            yield section.name, f"{told}; name in its `needs` the step that it is to follow"


def unfinished(exercises: Iterable[Exercise]) -> Iterator[str]:
    """A line for each exercise of which a part is not written that students or their grades need."""
    for exercise in exercises:
        if any((*_left_in(exercise, (*exercise.suites, "exercises", "solutions")), *_left_in_pool(exercise))):
            yield f"{exercise.slug} is unfinished: `kata audit --only {exercise.slug}` lists what is to do"


def _to_do(exercise: Exercise) -> Iterator[tuple[str, str]]:
    """What `kata new` left to its author, in the order in which it is best written."""
    for line in (*_left_in(exercise, _ORDER_OF_WORK), *_left_in_row(exercise)):
        yield exercise.slug, line


def _sources(place: Path) -> list[Path]:
    """The Python files there: those of a project, the one with the statement first, or the file itself."""
    return [file for file in project.files(place) if file.suffix == ".py"] if place.is_dir() else [place]


def _left_in(exercise: Exercise, trees: Iterable[Tree]) -> Iterator[str]:
    for tree in trees:
        for file in _sources(exercise.place(tree)) if tree in exercise.trees else ():
            yield from _left(file)


def _left(file: Path, among: Container[int] | None = None) -> Iterator[str]:
    """What is to do in a file, or in these of its lines."""
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        if TODO in line and (among is None or number in among):
            what = line.partition(TODO)[2].partition('"')[0]
            yield f"to do in {paths.shown(file)}:{number}: {what.rstrip(' .')}"


def _left_in_row(exercise: Exercise) -> Iterator[str]:
    file = row_file(exercise)
    lines = file.read_text("utf-8").splitlines()
    start = next((i for i, line in enumerate(lines) if line.strip() == f"[exercise.{exercise.slug}]"), 0)

    def place(key: str) -> str:
        row = range(start, len(lines))
        at = next((i for i in row if re.match(rf"\s*{key}\s*=", lines[i])), start)
        return f"to do in {paths.shown(file)}:{at + 1}"

    if not exercise.minutes and not exercise.is_step:
        yield f"{place('minutes')}: minutes: say what it takes"
    if not exercise.concepts:
        yield f"{place('concepts')}: concepts: name what is learnt, as `kata find` is to find it"
    if not 1 <= len(exercise.hints) <= 3:
        count = len(exercise.hints)
        yield f"{place('hints')}: hints: one to three, from a nudge to nearly there; here are {count}"
    if not exercise.reading and not exercise.is_step:
        yield f"{place('reading')}: reading: a page that helps"
    yield from _left_in_pool(exercise)


def _left_in_pool(exercise: Exercise) -> Iterator[str]:
    """Hints for bugs that are still to write."""
    file, before = row_file(exercise), 0
    for table in rows_of(file.read_text("utf-8")) if exercise.is_capstone else ():
        end = before + table.count("\n")
        if table.startswith(f"[exercise.{exercise.slug}.bugs]"):
            yield from _left(file, range(before + 1, end + 1))
        before = end


def _row_problems(exercise: Exercise) -> Iterator[tuple[str, str]]:
    if exercise.is_step and exercise.file("hidden").exists():
        yield exercise.slug, f"a step has one suite, and {paths.shown(exercise.file('hidden'))} is another"


def _start_problems(exercise: Exercise) -> Iterator[tuple[str, str]]:
    if not starts.is_untouched(exercise):
        place = paths.shown(row_file(exercise))
        yield (
            exercise.slug,
            f"the catalog knows another start; if this is the new one, `kata audit --write-starts --only "
            f"{exercise.slug}` writes {starts.row(exercise)} to {place}",
        )


def _agreement_problems(exercise: Exercise) -> Iterator[tuple[str, str]]:
    try:
        stub, solution = (_interface(exercise.place(tree)) for tree in _WRITTEN)
    except SyntaxError as error:
        yield exercise.slug, f"stub or solution is no Python: line {error.lineno}: {error.msg}"
        return
    for name in sorted(stub.keys() | solution.keys()):
        if name not in solution:
            yield exercise.slug, f"the solution lacks {name}"
        elif name not in stub:
            if not any(part.startswith("_") for part in name.split(".")):
                yield exercise.slug, f"the stub lacks {name}"
        elif exercise.is_capstone:
            continue  # where they differ is a bug: the start is made of the solution
        elif stub[name][0] != solution[name][0] or solution[name][1] not in ("", stub[name][1]):
            yield exercise.slug, f"stub and solution differ in the signature or docstring of {name}"


def _interface(place: Path) -> dict[str, tuple[str, str]]:
    """Signature and docstring of the modules and of all that they define, by dotted name."""
    found = {}
    for file in _sources(place):
        tree = ast.parse(file.read_text("utf-8"), str(file))
        inside = "" if file in (place, place / project.START) else _dotted(file.relative_to(place))
        found[inside or "the module"] = ("", ast.get_docstring(tree) or "")
        found.update(_definitions(tree.body, inside and f"{inside}."))
    return found


def _dotted(inside: Path) -> str:
    return ".".join(inside.with_suffix("").parts)


def _definitions(body: list[ast.stmt], prefix: str) -> dict[str, tuple[str, str]]:
    found = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            returns = ast.unparse(node.returns) if node.returns else ""
            signature = f"({ast.unparse(node.args)}) -> {returns}"
            found[prefix + node.name] = (signature, ast.get_docstring(node) or "")
        elif isinstance(node, ast.ClassDef):
            bases = ", ".join(ast.unparse(base) for base in node.bases)
            found[prefix + node.name] = (bases, ast.get_docstring(node) or "")
            found.update(_definitions(node.body, f"{prefix}{node.name}."))
    return found


def _hint_problems(exercise: Exercise) -> Iterator[tuple[str, str]]:
    given, solution = (exercise.text(exercise.content(tree)) for tree in _WRITTEN)
    for line in solution.splitlines():
        code = line.split("  # ")[0].strip()
        if len(code) >= 12 and code not in given and any(code in hint for hint in exercise.hints):
            yield exercise.slug, f"a hint quotes the solution: {code}"
