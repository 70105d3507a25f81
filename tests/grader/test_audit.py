"""The audit, run on a small clone with planted faults: each is reported, and a sound exercise is not."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader import paths

STUB = '''"""Double a tensor."""


def double(x):
    """Twice x."""
    raise NotImplementedError
'''
SOLUTION = '''"""Double a tensor."""


def double(x):
    """Twice x."""
    return x * 2.0
'''
PUBLIC = '''import torch
from grader.checks import expect_close


def test_example(answer):
    """One becomes two."""
    expect_close(answer.double(torch.ones(3)), torch.full((3,), 2.0), "double(x)")
'''
HIDDEN = '''import torch
from grader.checks import expect_close, unchanged


def test_values(answer, gen):
    """Every number is doubled."""
    x = torch.randn(4, generator=gen)
    wanted = x * 2
    expect_close(answer.double(x), wanted, "double(x)")


def test_input(answer):
    """x stays as it is."""
    x = torch.ones(3)
    with unchanged("double(x)", x=x):
        answer.double(x)


def oracle(answer, gen):
    return answer.double(torch.randn(4, generator=gen))
'''
MUTATING = 'Wrong("in place", code="def double(x): return x.mul_(2.0)", check="test_input", says="changes")'
CONSTANT = 'Wrong("constant", code="def double(x): return x * 0 + 2", check="test_values", says="wrong values")'
ADDING = 'Right("adds", code="def double(x): return x + x")'
ROW = """
[exercise.{slug}]
order = {order}
kind = "build"
path = "core"
title = "Double"
points = 1
difficulty = 1
needs = {needs}
concepts = ["mul"]
hints = {hints}
reading = "https://docs.pytorch.org"
"""


class Clone:
    """A clone of the grader with exercises of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        shutil.copytree(paths.ROOT / "grader", root / "grader", ignore=shutil.ignore_patterns("__pycache__", "e*.toml"))
        for name in ("conftest.py", "pyproject.toml"):
            shutil.copy(paths.ROOT / name, root / name)
        for name in ("exercises", "solutions", "tests/public", "tests/hidden", "tests/specimens"):
            (root / name / "e01_tensors").mkdir(parents=True)
            for folder in (root / name, root / name / "e01_tensors"):
                (folder / "__init__.py").touch()
        (root / "tests" / "__init__.py").touch()
        (root / "exercises" / "e01_tensors" / "README.md").write_text("Tensors.")
        self.catalog = root / "grader" / "catalog" / "e01_tensors.toml"
        self.catalog.write_text('title = "The tensor"\n')
        self.count = 0

    def add(
        self,
        slug,
        *,
        stub=STUB,
        solution=SOLUTION,
        public=PUBLIC,
        hidden=HIDDEN,
        specimens=(MUTATING, CONSTANT, ADDING),
        needs="[]",
        hints='["Multiply."]',
    ):
        self.count += 1
        stem = f"ex{self.count:02d}_{slug}"
        texts = {
            f"exercises/e01_tensors/{stem}.py": stub,
            f"solutions/e01_tensors/{stem}.py": solution,
            f"tests/public/e01_tensors/test_{stem}.py": public,
            f"tests/hidden/e01_tensors/test_{stem}.py": hidden,
            f"tests/specimens/e01_tensors/{stem}.py": "from grader.specimen import Right, Wrong\n\n"
            f"SPECIMENS = [{', '.join(specimens)}]\n",
        }
        for name, text in texts.items():
            if text is not None:
                (self.root / name).write_text(text)
        with self.catalog.open("a") as stream:
            stream.write(ROW.format(slug=slug, order=self.count, needs=needs, hints=hints))

    def audit(self) -> tuple[int, list[str]]:
        done = subprocess.run(
            [sys.executable, "-m", "grader", "audit"], cwd=self.root, capture_output=True, text=True, check=False
        )
        return done.returncode, (done.stdout + done.stderr).splitlines()


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    clone = Clone(tmp_path_factory.mktemp("clone"))
    clone.add("sound")
    clone.add("lenient", specimens=[MUTATING, CONSTANT, 'Wrong("rounds", code="def double(x): return x + x")'])
    clone.add("idle", specimens=[CONSTANT])
    clone.add("elsewhere", specimens=[MUTATING.replace("test_input", "test_values"), CONSTANT])
    clone.add("wordless", specimens=[MUTATING, CONSTANT.replace("wrong values", "sideways")])
    clone.add("strict", hidden=HIDDEN.replace("2.0", "2"), specimens=[MUTATING, CONSTANT,
              'Right("in float64", code="def double(x): return x.double() * 2")'])  # fmt: skip
    clone.add("giveaway", stub=STUB.replace("raise NotImplementedError", "return x + x"))
    clone.add("unlike", stub=STUB.replace("Twice x", "Two x"))
    clone.add("telling", hints='["Write return x * 2.0 there."]')
    clone.add("silent", hints="[]")
    clone.add("needy", needs='["sound", "lonely", "nothing"]')
    clone.add("lonely", hidden=None)
    clone.add("mistaken", solution=SOLUTION.replace("2.0", "3.0"), specimens=[MUTATING, CONSTANT])
    clone.add("misfit", specimens=['Wrong("edit", edits=[("no such text", "x")])'])
    (clone.root / "solutions" / "e01_tensors" / "notes.txt").write_text("stray")
    code, lines = clone.audit()
    assert code == 1
    return lines


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("lenient", "'rounds' gets full marks"),
        ("idle", "no wrong answer fails test_input"),
        ("elsewhere", "is not caught by test_values, only by test_input"),
        ("wordless", "lacks 'sideways'"),
        ("strict", "in float64"),
        ("giveaway", "the stub earns 1 of 1 points"),
        ("unlike", "differ in the signature or docstring of double"),
        ("telling", "a hint quotes the solution"),
        ("silent", "0 hints"),
        ("needy", "needs 'lonely', which does not come earlier"),
        ("needy", "needs 'nothing', which is no exercise"),
        ("lonely", "is missing"),
        ("mistaken", "the solution (seed 0) is right but"),
        ("misfit", "occurs 0 times"),
        ("e01_tensors", "notes.txt belongs to no exercise"),
    ],
)
def test_a_planted_fault_is_reported(reported, where, words):
    assert any(line.startswith(f"{where}: ") and words in line for line in reported), reported


def test_a_sound_exercise_is_not_reported(reported):
    assert not any(line.startswith("sound: ") for line in reported)


def test_a_clean_clone_is_clean(tmp_path):
    clone = Clone(tmp_path)
    clone.add("sound")
    code, lines = clone.audit()
    assert (code, lines[-1]) == (0, "audit: 1 exercises, no problems")
