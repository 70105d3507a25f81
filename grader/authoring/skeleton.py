"""`kata new`: the beginning of an exercise or a step. What is to be written says so; the audit lists it."""

from pathlib import Path

from grader.core.errors import KataError
from grader.course import paths
from grader.course.catalog import Exercise, Section, Tree, digest, load, row_file

_HEAD = """from jaxtyping import Float
from torch import Tensor


def {slug}(x: Float[Tensor, "rows columns"]) -> Float[Tensor, "rows columns"]:
"""

_STATEMENT = '''"""TODO: what it is about, in a line.

TODO: the job, in 120 words at most: a real situation, what to write, up to five rules of a line each.

    {slug}(torch.tensor([[1.0, 2.0]]))      # [[2, 4]]

Fine print:
- TODO: what goes beyond the job, a line each: dtypes, strides, empty inputs, errors.
"""

'''

_STEP_STATEMENT = '''"""TODO: what it does, in a line, with the call in backticks.

TODO: one sentence of situation and what to return; at most two rules; 80 words in all.

    {slug}(torch.tensor([[1.0, 2.0]]))      # tensor([[2., 4.]])

New here: TODO: the syntax that the step introduces, so that nobody has to search for it.
"""

'''

_BODY = {
    "build": "    raise NotImplementedError\n",
    "fix": "    return x * 3  # TODO: plausible code that goes wrong\n",
}

_SOLUTION = "    return x * 2  # (rows, columns)  TODO: the reference, with the shape behind each line\n"

_EXAMPLE = '''"""The worked example of {slug}."""

from grader.checks.contract import Contract

# TODO: the numbers of the statement's example
contract = Contract("{slug}(x)", example=([[1.0, 2.0]], [[2.0, 4.0]]))
'''

_SUITE = '''"""What grades {slug}: TODO: a word for each thing that is judged."""

import torch

from grader.checks.contract import Contract, dtypes, gradients, untouched

contract = Contract(
    "{slug}(x)",
    reference=lambda x: x * 2,  # TODO: slow, plain and right
    inputs=lambda gen: {{  # TODO: ordinary calls, three or more, in a learner's words
        f"{{rows}} rows": torch.randn(rows, 4, generator=gen) for rows in (2, 3, 7)
    }},
    suspects={{  # TODO: the mistakes that people make, in words that the feedback is to say
        "every number is tripled": lambda x: x * 3
    }},
    job=[gradients("x")],  # TODO: what a reviewer would call a bug in a first version
    fine=[dtypes(torch.float64), untouched()],  # TODO: what the fine print says, and nothing else
)
'''

_STEP_SUITE = '''"""The suite of {slug}."""

import torch

from grader.checks.contract import Contract

contract = Contract(
    "{slug}(x)",
    reference=lambda x: x * 2,  # TODO: slow, plain and right
    example=([[1.0, 2.0]], [[2.0, 4.0]]),  # TODO: the numbers of the statement
    inputs=lambda gen: [  # TODO: three to five ordinary inputs
        torch.randn(size, generator=gen) for size in ((2, 3), (4, 4), (1, 5))
    ],
    suspects={{  # TODO: the pitfall first, in words that a beginner has met by then
        "every number is tripled": lambda x: x * 3
    }},
)
'''

_SPECIMENS = '''"""Answers to {slug} that people write."""

from grader.authoring.specimen import Right, Works, Wrong

TWICE = "x * 2"

SPECIMENS = [
    Wrong(
        "TODO: a mistake in the job, one of six to fifteen",
        edits=[(TWICE, "x * 3")],
        rung="job",
        check="test_values",
        says="is tripled",
    ),
    Wrong(
        "TODO: a mistake in the fine print",
        edits=[(TWICE, "x.mul_(2)")],
        rung="fine",
        check="test_arguments_are_left_alone",
    ),
    Works("TODO: as textbooks and well-known code write it", edits=[(TWICE, "x.float() * 2")]),
    Right("TODO: right, and written differently", edits=[(TWICE, "x + x")]),
]
'''

_STEP_SPECIMENS = '''"""Answers to {slug}."""

from grader.authoring.specimen import Right, Wrong

TWICE = "x * 2"

SPECIMENS = [
    Wrong(
        "TODO: the pitfall, which the feedback is to name",
        edits=[(TWICE, "x * 3")],
        rung="job",
        check="test_worked_example",
        says="is tripled",
    ),
    Right("TODO: a beginner's detour", edits=[(TWICE, "x + x")]),
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
minutes = 10
needs = []
concepts = []
hints = []
reading = ""
start = "{start}"
"""

_STEP_ROW = """
[exercise.{slug}]
order = {order}
kind = "{kind}"
title = "{title}"
concepts = []
hints = []
start = "{start}"
"""


def write(section: str, slug: str, kind: str, *, step: bool = False) -> list[str]:
    """Write the files of a new exercise or step and its catalog row; the paths, for printing.

    Raises:
        KataError: the section is unknown, the slug is taken or no identifier, the kind is neither.
    """
    _expect_new(slug, kind)
    found = _section(section)
    order = max((e.order for e in found.exercises if e.is_step == step), default=0) + 1
    words = {"slug": slug, "title": slug.replace("_", " ").capitalize(), "order": order, "kind": kind}
    head = _HEAD.format(**words)
    stub = (_STEP_STATEMENT if step else _STATEMENT).format(**words) + head + _BODY[kind]
    texts: dict[Tree, str] = {
        "exercises": stub,
        "solutions": head + _SOLUTION,
        "public": (_STEP_SUITE if step else _EXAMPLE).format(**words),
        "hidden": _SUITE.format(**words),
        "specimens": (_STEP_SPECIMENS if step else _SPECIMENS).format(**words),
    }
    made = Exercise(slug, found.name, order, "", "build", "first" if step else "core", 0, 1, (), (), (), "")
    files = {made.file(tree): texts[tree] for tree in made.trees}
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    if step:  # a package, as the folder above it is
        (made.file("public").parent / "__init__.py").touch()
    row = (_STEP_ROW if step else _ROW).format(start=digest(stub.encode()), **words)
    return [*map(paths.shown, files), _append(row_file(made), row)]


def _expect_new(slug: str, kind: str) -> None:
    if not slug.isidentifier() or slug != slug.lower():
        raise KataError(f"{slug!r} is no slug: use lower-case letters, digits and underscores")
    if any(e.slug == slug for e in load().exercises):
        raise KataError(f"an exercise is called {slug!r} already; slugs are unique, choose another")
    if kind not in _BODY:
        raise KataError(f"--kind {kind!r} is neither build nor fix")


def _section(name: str) -> Section:
    sections = load().sections
    for section in sections:
        if section.is_called(name):
            return section
    names = ", ".join(section.name for section in sections)
    raise KataError(f"no section is called {name!r}; there are {names}")


def _append(file: Path, row: str) -> str:
    with file.open("a", encoding="utf-8") as stream:
        stream.write(row if stream.tell() else row.lstrip())
    return paths.shown(file)
