"""The files of a capstone, made of a repository that is a package itself."""

import pytest

from grader.authoring.bring import capstone_of
from grader.authoring.bring.patches import Patch
from grader.authoring.bring.repository import Repository
from grader.core.errors import KataError
from grader.course.exercise import Exercise
from grader.course.specimens import parsed

EXERCISE = Exercise("shop", "e21_x", 1, "", "project", "further", 3, 3, (), (), (), "")
PROGRAM = {
    "__init__.py": b'"""A shop."""\n\nfrom store.till import total\n',
    "till.py": b"from store import prices\n\n\ndef total(n):\n    return n * prices.EACH\n",
    "prices.py": b"EACH = 2\n",
    "logo.png": b"\x89\0",
}
TESTS = """from store import total
from store.till import total as sum_of


def test_total():
    assert sum_of(3) == 6, 'three are "6",\\nand no more'


def test_free(clerk):
    assert total(0) == 0
"""
BUGS = [
    Patch("total", "adds", "total.patch", {"till.py": PROGRAM["till.py"].decode().replace("*", "+")}),
    Patch("free", "costs", "free.patch", {"prices.py": "EACH = 3\n"}),
]


@pytest.fixture
def files():
    return lambda **more: (
        capstone_of.made(
            EXERCISE,
            Repository("store", {**PROGRAM, **more}, {"README.md": b""}, {}, {"test_a.py": TESTS}),
            BUGS,
        ).files
    )


def test_the_package_and_its_imports(files):
    solution = files()["solutions"]
    assert solution["__init__.py"] == b"from .till import total\n"
    assert solution["till.py"].startswith(b"from . import prices\n")
    assert solution["logo.png"] == PROGRAM["logo.png"]
    start = files()["exercises"]
    assert start["__init__.py"].startswith(b'"""TODO: ') and start["__init__.py"].endswith(b"import total\n")
    assert "README.md" in start and "logo.png" not in start


def test_the_suites(files):
    hidden = files()["hidden"][""].decode()
    compile(hidden, "test_shop.py", "exec")
    assert "bool(answer.till.total(3) == 6)" in hidden
    assert "test_a.py:9 has the fixture clerk: take over what it looks at" in hidden
    public = files()["public"][""].decode()
    assert "    parts = [answer.till, answer.prices]  # TODO" in public
    assert (
        "    answer.run.main()  # TODO"
        in files(**{"run.py": b"def main(n=1):\n    pass\n"})["public"][""].decode()
    )


def test_the_specimens(files):
    one, other = parsed(files()["specimens"][""].decode(), "here")
    assert (one.name, one.check, one.says) == ("total", "test_total", 'three are "6", and no more')
    assert other.says.startswith("TODO: ")


def test_what_is_no_python_at_the_top(files):
    with pytest.raises(KataError, match=r"__init__.py:1 is no Python"):
        files(**{"__init__.py": b"def\n"})
