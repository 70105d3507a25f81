"""The verbs of those who write exercises: `audit` and `new`."""

from pathlib import Path

from rich.console import Console

from grader.core.errors import KataError
from grader.core.progress_bar import bar
from grader.course import paths, starts
from grader.course.catalog import Tree, digest, load, section_file


def audit(
    only: list[str] | None, as_json: bool, out: Console, err: Console, *, write_starts: bool = False
) -> bool:
    """Run the audit with a progress bar, print each problem; True where there is none.

    With `write_starts` the files in `exercises/` are noted as starts before.
    """
    from grader.authoring.audit import audit as run

    if write_starts:
        starts.write(load().select(only))
        load.cache_clear()
    catalog = load()
    exercises = catalog.select(only)
    with bar(err, "trying answers") as progress:
        found = run(catalog, exercises, progress)
    if as_json:
        problems = [{"where": problem.where, "what": problem.what} for problem in found]
        out.print_json(data={"exercises": [e.slug for e in exercises], "problems": problems})
        return not found
    for problem in found:
        out.print(f"{problem.where}: {problem.what}", markup=False)
    count = f"{len(found)} problem{'s' if len(found) != 1 else ''}" if found else "no problems"
    out.print(f"audit: {len(exercises)} exercises, {count}")
    return not found


def redundant(only: list[str] | None, as_json: bool, out: Console, err: Console) -> None:
    """Print wrong specimens that tell the suites no more than another."""
    from grader.authoring.redundant import groups

    with bar(err, "trying answers") as progress:
        found = list(groups(load().select(only), progress))
    if as_json:
        out.print_json(data=[{"where": group.where, "about": list(group.about)} for group in found])
        return
    for group in found:
        out.print(str(group), markup=False)
    spare = sum(len(group.about) - 1 for group in found)
    what = "wrong specimen fails" if spare == 1 else "wrong specimens fail"
    out.print(f"{spare or 'no'} {what} as another does")


_STUB = '''"""{title}.

The task in a few lines, a worked example, the rules, bad input and the error that it gets.
"""

from jaxtyping import Float
from torch import Tensor


def {slug}(x: Float[Tensor, "batch features"]) -> Float[Tensor, "batch features"]:
    """What it returns.

    Args:
        x: what it is, (batch, features).

    Returns:
        What comes back, (batch, features).
    """
    raise NotImplementedError
'''

_SUITE = '''"""{what} {slug}."""

import torch

from grader.checks import expect_close


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    x = torch.ones(2, 3)
    expect_close(answer.{slug}(x), x.clone(), "{slug}(x)", dims="batch features")
'''

_ORACLE = """

def oracle(answer, gen):
    return {{"five rows": answer.{slug}(torch.randn(5, 3, generator=gen))}}
"""

_SPECIMENS = '''"""Answers to {slug} that people write."""

from grader.authoring.specimen import Right, Wrong

SPECIMENS = [
    Wrong("", code="", check="test_worked_example", says=""),
    Right("", code=""),
]
'''

_ROW = """
[exercise.{slug}]
order = {order}
kind = "{kind}"
path = "core"
title = "{title}"
points = 1
difficulty = 1
needs = []
concepts = []
hints = []
reading = ""
start = "{start}"
"""


def new(section: str, slug: str, kind: str) -> list[str]:
    """Write the beginnings of an exercise's five files and its catalog row; the paths, for printing.

    Raises:
        KataError: the section is unknown, the slug is taken or no identifier, the kind is neither.
    """
    catalog = load()
    found = next((s for s in catalog.sections if s.is_called(section)), None)
    if found is None:
        names = ", ".join(s.name for s in catalog.sections)
        raise KataError(f"no section is called {section!r}; there are {names}")
    if not slug.isidentifier() or slug != slug.lower():
        raise KataError(f"{slug!r} is no slug: use lower-case letters, digits and underscores")
    if any(e.slug == slug for e in catalog.exercises):
        raise KataError(f"an exercise is called {slug!r} already; slugs are unique, choose another")
    if kind not in ("build", "fix"):
        raise KataError(f"--kind {kind!r} is neither build nor fix")
    order = max((e.order for e in found.exercises), default=0) + 1
    words = {"slug": slug, "title": slug.replace("_", " ").capitalize(), "order": order, "kind": kind}
    stub = _STUB.format(**words)
    row = _ROW.format(start=digest(stub.encode()), **words)
    texts: dict[Tree, str] = {
        "exercises": stub,
        "solutions": stub.replace("raise NotImplementedError", "return x  # (batch, features)"),
        "public": _SUITE.format(what="The contract of", **words),
        "hidden": _SUITE.format(what="What grades", **words) + _ORACLE.format(**words),
        "specimens": _SPECIMENS.format(**words),
    }
    return [*_write(found.name, f"ex{order:02d}_{slug}", texts), _append(found.name, row)]


def _write(section: str, stem: str, texts: dict[Tree, str]) -> list[str]:
    folders = {
        "exercises": (paths.EXERCISES, ""),
        "solutions": (paths.SOLUTIONS, ""),
        "public": (paths.PUBLIC, "test_"),
        "hidden": (paths.HIDDEN, "test_"),
        "specimens": (paths.SPECIMENS, ""),
    }
    made = []
    for tree, text in texts.items():
        folder, prefix = folders[tree]
        file: Path = folder / section / f"{prefix}{stem}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        made.append(paths.shown(file))
    return made


def _append(section: str, row: str) -> str:
    file = section_file(section)
    with file.open("a", encoding="utf-8") as stream:
        stream.write(row)
    return paths.shown(file)
