"""Puts the course into the wheel, as `grader/content`: what `kata init` writes a learner's folder from."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

CONTENT = (
    *("exercises", "solutions", "tests/__init__.py", "tests/public", "tests/hidden"),
    "tests/specimens/e13_capstones",  # of which variants are made
    *(".gitignore", "conftest.py", "pyproject.toml", "README.md", "docs/pictures"),
)


class WithContent(build_py):
    """An editable install needs none: the package stands in its clone."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        content = Path(self.build_lib, "grader", "content")
        shutil.rmtree(content, ignore_errors=True)  # of an earlier build
        for source in map(Path, CONTENT):
            target = content / source
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            elif source.exists():  # a release has no hidden suites
                shutil.copy(source, target)


setup(cmdclass={"build_py": WithContent})
