"""A small clone of the project, with exercises of its own, for tests that run the command line."""

import shutil
import subprocess
import sys
from pathlib import Path

from grader.course import paths
from grader.course.exercise import digest

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
    cases = ("nine numbers", "nine more", "the last nine")
    return {case: answer.double(torch.randn(9, generator=gen)) for case in cases}
'''
MUTATING = 'wrong fine test_input "changes": in place\n- x * 2.0\n+ x.mul_(2.0)\n'
CONSTANT = 'wrong fine test_values "wrong values": constant\n- x * 2.0\n+ x * 0 + 2\n'
ADDING = "right: adds\n| def double(x): return x + x\n"
ROW = """
[exercise.{slug}]
kind = "build"
path = "core"
title = "Double"
points = 1
difficulty = 1
minutes = 5
needs = {needs}
concepts = ["mul"]
hints = {hints}
reading = "https://docs.pytorch.org"
start = "{start}"
"""
STEP = (
    PUBLIC
    + """

def oracle(answer, gen):
    cases = ("nine numbers", "nine more", "the last nine")
    return {case: answer.double(torch.randn(9, generator=gen)) for case in cases}
"""
)
STEP_ROW = """
[exercise.{slug}]
title = "Double"
concepts = ["mul"]
hints = ["Multiply."]
start = "{start}"
"""


class Clone:
    """A clone of the grader with exercises of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        ours = shutil.ignore_patterns("__pycache__")
        shutil.copytree(paths.ROOT / "grader", root / "grader", ignore=ours)
        for name in ("conftest.py", "pyproject.toml"):
            shutil.copy(paths.ROOT / name, root / name)
        for name in ("exercises", "solutions", "tests/public", "tests/hidden", "tests/specimens"):
            (root / name / "e01_tensors").mkdir(parents=True)
            for folder in (root / name, root / name / "e01_tensors"):
                (folder / "__init__.py").touch()
        (root / "tests" / "__init__.py").touch()
        (root / "exercises" / "e01_tensors" / "README.md").write_text("Tensors.")
        self.catalog = root / "exercises" / "e01_tensors" / "section.toml"
        self.catalog.write_text('title = "The tensor"\n')

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
        stem = f"{slug}"
        texts = {
            f"exercises/e01_tensors/{stem}.py": stub,
            f"solutions/e01_tensors/{stem}.py": solution,
            f"tests/public/e01_tensors/test_{stem}.py": public,
            f"tests/hidden/e01_tensors/test_{stem}.py": hidden,
            f"tests/specimens/e01_tensors/{stem}.txt": "\n".join(specimens),
        }
        for name, text in texts.items():
            if text is not None:
                (self.root / name).write_text(text)
        start = digest(stub.encode())
        with self.catalog.open("a") as stream:
            stream.write(ROW.format(slug=slug, needs=needs, hints=hints, start=start))

    def add_step(self, slug, *, stub=STUB, solution=SOLUTION, public=STEP, specimens=()):
        """A first step: its suite, which is public, has the oracle."""
        stem = f"{slug}"
        texts = {
            f"exercises/e01_tensors/steps/{stem}.py": stub,
            f"solutions/e01_tensors/steps/{stem}.py": solution,
            f"tests/public/e01_tensors/steps/test_{stem}.py": public,
            f"tests/specimens/e01_tensors/steps/{stem}.txt": "\n".join(specimens),
            "tests/public/e01_tensors/steps/__init__.py": "",
        }
        for name, text in texts.items():
            (self.root / name).parent.mkdir(exist_ok=True)
            (self.root / name).write_text(text)
        with (self.catalog.parent / "steps" / "steps.toml").open("a") as stream:
            stream.write(STEP_ROW.format(slug=slug, start=digest(stub.encode())))

    def kata(self, *arguments, answer="") -> tuple[int, list[str]]:
        """Run a verb in this clone: its exit status and the lines that it printed."""
        command = [sys.executable, "-m", "grader", *arguments]
        done = subprocess.run(
            command, cwd=self.root, capture_output=True, text=True, input=answer, check=False
        )
        return done.returncode, (done.stdout + done.stderr).splitlines()

    def commit(self, message="start"):
        """Commit all there is, in a git repository that is made where there is none."""
        identity = ["-c", "user.name=kata", "-c", "user.email=kata@example.org"]
        for arguments in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", message]):
            subprocess.run(["git", *arguments], cwd=self.root, check=True)
