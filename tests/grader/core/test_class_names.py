"""A name stands for one class, and who searches for it finds that one. What begins with _ stays in a file."""

import ast
from collections import Counter

from grader.course import paths


def named_twice(sources):
    """The names of classes that several of these texts define, or one of them twice."""
    found = Counter(
        node.name for text in sources for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)
    )
    return sorted(name for name, count in found.items() if count > 1 and not name.startswith("_"))


def test_each_class_has_a_name_of_its_own():
    files = (paths.ROOT / "grader").rglob("*.py")
    assert named_twice(file.read_text("utf-8") for file in files) == []


def test_who_takes_a_name_that_is_there_is_seen():
    texts = ["class Row: ...\nclass _Cell: ...", "def row():\n    class Row: ...\nclass _Cell: ..."]
    assert named_twice(texts) == ["Row"]
