"""Code without what is said about it."""

import ast

import pytest

from grader.course.catalog import load
from grader.course.statement import code_alone

SAID = '''"""A title.

A job.
"""

import torch


class Box:
    """A box."""

    size: int
    """Of it."""

    def halve(self):
        """Half.

        Of it.
        """

        return "a string stays"


def later():
    """Nothing else."""
'''
ALONE = '''import torch


class Box:
    size: int

    def halve(self):
        return "a string stays"


def later():
    """Nothing else."""'''


def test_docstrings_go_and_code_stays():
    kept = code_alone(SAID)
    assert kept.replace("\n\n\n", "\n\n") == ALONE.replace("\n\n\n", "\n\n")
    assert code_alone("def f(:\n") == "def f(:\n"


@pytest.mark.parametrize("tree", ["exercises", "solutions"])
def test_of_every_file_the_code_is_the_same(tree):
    for exercise in load().exercises:
        source = exercise.text(exercise.content(tree))
        names = [
            [node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
            for text in (source, code_alone(source))
        ]
        assert names[0] == names[1], exercise.slug
