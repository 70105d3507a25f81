"""A program's imports of its own modules, made relative; all others stay."""

import pytest

from grader.authoring.bring import imports
from grader.core.errors import KataError

OWN = imports.own(["__init__.py", "data.py", "tiny/__init__.py", "tiny/model.py", "config.yaml"])


def relative(text, name="train.py", package=""):
    return imports.all_relative({name: text}, OWN, package)[name]


def test_what_is_its_own():
    assert {"data", "tiny"} == OWN


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from data import a, b  # both", "from .data import a, b  # both"),
        ("from tiny.model import (\n    A,\n)", "from .tiny.model import (\n    A,\n)"),
        ("import data", "from . import data"),
        ("import data as d; import tiny.model as m", "from . import data as d; from .tiny import model as m"),
        ("def f():\n    from tiny import model", "def f():\n    from .tiny import model"),
        ("é = 1; import data", "é = 1; from . import data"),
        ("import os, sys\nfrom database import x\nfrom .data import y", None),
    ],
)
def test_its_own_are_made_relative(before, after):
    assert relative(before) == (after or before)


def test_from_inside_a_package():
    assert (
        relative("from tiny.other import x\nimport data", "tiny/model.py")
        == "from ..tiny.other import x\nfrom .. import data"
    )


def test_a_package_that_names_itself():
    assert (
        relative("from rings.data import x\nfrom rings import data", package="rings")
        == "from .data import x\nfrom . import data"
    )


@pytest.mark.parametrize("text", ["import os, data", "import tiny.model", "from data \\\n    import x"])
def test_what_would_take_more_is_told(text):
    with pytest.raises(KataError, match=r"train.py:2: .*import one module a line"):
        relative(f"\n{text}")


def test_what_is_no_python():
    with pytest.raises(KataError, match=r"train.py:1 is no Python"):
        relative("def")


def test_other_files_stay():
    assert relative("import data", "notes.txt") == "import data"
