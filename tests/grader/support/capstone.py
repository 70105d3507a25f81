"""A capstone for a `Clone`, or as an exercise alone: twelve sums, of which five are wrong in each variant."""

import shutil
from dataclasses import replace
from pathlib import Path

from grader.core.packed import unpacked, written
from grader.course import variant
from grader.course.bug_pool import BugPool
from grader.course.exercise import Exercise
from tests.grader.support.clone import Clone
from tests.grader.support.project import write

SLUG = "twelve_sums"
NAMES = ("ada", "bea", "cai", "dan", "eve", "fay", "gil", "hal", "ida", "jon", "kim", "lea")
HIDES = (("ada", "bea"), ("cai", "dan"))

RIGHT = {
    "__init__.py": "",
    "early.py": "".join(f"def {name}(x):\n    return x + {n}\n\n\n" for n, name in enumerate(NAMES[:6], 100)),
    "late.py": "".join(f"def {name}(x):\n    return x + {n}\n\n\n" for n, name in enumerate(NAMES[6:], 106)),
}
AROUND = {
    "__init__.py": '"""Twelve sums.\n\nMend what is wrong, in as many places as it takes.\n"""\n',
    "README.md": "Twelve sums.\n",
}
BUGS = {
    name: f'bug {name} test_{name} "the sum of {name}": subtracts\n- x + {n}\n+ x - {n}\n'
    for n, name in enumerate(NAMES, 100)
}
SPECIMENS = "\n".join(BUGS.values())
HINTS = "".join(f'{name} = ["what {name} says", "print {name}", "where {name} is"]\n' for name in NAMES)
HIDDEN = '''"""What the sums come to."""

from grader.checks import expect_equal


def part(answer, name):
    return getattr(answer.early, name, None) or getattr(answer.late, name)

''' + "".join(
    f'''
def test_{name}(answer):
    """The sum of {name} is too small."""
    expect_equal(part(answer, "{name}")(1000), {n + 1000}, "{name}(1000)")

'''
    for n, name in enumerate(NAMES, 100)
)
ORACLE = f"""
def oracle(answer, gen):
    import torch

    x = torch.randn(9, generator=gen)
    return {{name: part(answer, name)(x) for name in {NAMES}}}
"""
PUBLIC = '''"""The first sums."""

from grader.checks import expect_equal


def test_sums(answer):
    """The sums add up."""
    parts = [*vars(answer.early).items(), *vars(answer.late).items()]
    sums = [sum_of(0) for name, sum_of in parts if callable(sum_of)]
    expect_equal(sums, [*range(100, 112)], "the sums of 0")
'''
ROW = """
[exercise.{slug}]
kind = "project"
path = "further"
title = "Twelve sums"
points = 3
difficulty = 3
minutes = 60
needs = []
concepts = ["sums"]
hints = ["Read."]
reading = "https://docs.pytorch.org"
start = "{start}"

[exercise.{slug}.bugs]
{hints}hides = {hides}
"""


def exercise(root: Path, slug: str = SLUG) -> Exercise:
    """The capstone in a folder, without suites, at its start."""
    pool = BugPool(tuple((name, (f"what {name} says", f"print {name}", name)) for name in NAMES), HIDES)
    made = Exercise(slug, "e01_x", 1, "", "project", "further", 3, 3, (), (), (), "", root=root, pool=pool)
    write(made.place("solutions"), RIGHT)
    write(made.place("exercises"), AROUND)
    made.file("specimens").parent.mkdir(parents=True, exist_ok=True)
    made.file("specimens").write_text(SPECIMENS)
    start = variant.start(made, 0, made.content("exercises"))
    written(unpacked(start), made.place("exercises"))
    digest = made.digest(start)
    return replace(made, start=digest, pool=replace(pool, start=digest))


def add_capstone(
    clone: Clone, slug: str = SLUG, *, bugs: str = SPECIMENS, hidden: str = HIDDEN, hints: str = HINTS
) -> None:
    """Write it into a clone, with the start that its row knows."""
    made = exercise(clone.root / "aside", slug)
    shutil.copytree(made.place("exercises"), clone.root / "exercises/e01_tensors" / slug)
    write(clone.root / "solutions/e01_tensors" / slug, RIGHT)
    tests = clone.root / "tests"
    write(tests / "public/e01_tensors", {f"test_{slug}.py": PUBLIC})
    write(tests / "hidden/e01_tensors", {f"test_{slug}.py": hidden + ORACLE})
    write(tests / "specimens/e01_tensors", {f"{slug}.txt": bugs})
    hides = [[*pair] for pair in HIDES]
    with clone.catalog.open("a") as stream:
        stream.write(ROW.format(slug=slug, start=made.start, hints=hints, hides=hides))
