"""Tests of a repository that become checks, and those that are left to their author."""

import pytest

from grader.authoring.bring.own_tests import TITLE, WORDS, taken

ABOVE = """import torch
import data
from data import numbers as some
from tiny.model import Net
from tests.helpers import build

SIZE = 3


def small():
    return torch.ones(SIZE)


def net():
    return Net(SIZE)


"""
PLAIN = '''def test_shift(tmp_path):
    """Numbers are whole."""
    x = some(SIZE)  # three
    assert x == data.numbers(3), "numbers(3) is something else"
    assert (
        Net(2)(small()) is not None
    )
'''
CHECK = f'''def test_shift(answer, tmp_path):
    """Numbers are whole."""
    x = answer.data.numbers(SIZE)  # three
    expect_that(bool(x == answer.data.numbers(3)), "numbers(3) is something else")
    expect_that(
        bool(answer.tiny.model.Net(2)(small()) is not None),
        "{WORDS}",
    )
'''


def found(text, name="shift", file="tests/test_all.py"):
    return taken(
        {"tests/test_other.py": "def test_more(): pass\n", file: ABOVE + text}, name, {"data", "tiny"}
    )


def test_a_plain_one_is_taken_over():
    one = found(PLAIN)
    assert one.source == CHECK.rstrip()
    assert one.above == ("SIZE = 3", "import torch", "def small():\n    return torch.ones(SIZE)")
    assert (one.words, one.why) == (("numbers(3) is something else",), "")


def test_the_only_one_in_a_file_of_its_name():
    one = found("def test_it():\n    assert some(1)\n", file="tests/test_shift.py")
    assert one.source.startswith(f'def test_shift(answer):\n    """{TITLE}."""\n    expect_that(')


def test_there_may_be_none():
    assert found("def test_else():\n    pass\n") is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def test_shift(model):\n    pass\n", "tests/test_all.py:18 has the fixture model"),
        ("@mark\ndef test_shift():\n    pass\n", "a decorator"),
        ("def test_shift():\n    import data\n", "an import in it"),
        ("def test_shift():\n    assert net()\n", "a helper that uses the program"),
        ("def test_shift():\n    assert build()\n", "build, which its file does not define"),
        ("def test_shift(): pass\n", "no lines of its own"),
        ("def test_shift(:\n", "test_all.py:18 is no Python"),
        ("async def test_shift():\n    pass\n", "0 tests"),
    ],
)
def test_what_takes_more_is_left(text, why):
    one = found(text)
    assert (one.source, why in one.why) == ("", True), one.why


def test_which_of_two_is_meant():
    one = found("def test_a():\n    pass\n\n\ndef test_b():\n    pass\n", file="tests/test_shift.py")
    assert one.why == "tests/test_shift.py has 2 tests"
