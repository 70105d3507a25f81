"""What a pytest run is about: what nobody has begun is todo, and `-k SLUG` reads two files."""

import json

import pytest

from tests.grader.support.clone import SOLUTION, Clone

pytestmark = pytest.mark.slow

BROKEN = SOLUTION.replace("2.0", "3.0")
ROOM = "e01_tensors"
DOUBLE = [f"tests/{tree}/{ROOM}/test_double.py" for tree in ("public", "hidden")]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """Two fixes, and a stub of which one check fails in another way than by what it raises."""
    clone = Clone(tmp_path_factory.mktemp("clone"))
    for slug in ("double", "twice"):
        clone.add(slug, stub=BROKEN)
    clone.catalog.write_text(clone.catalog.read_text().replace('"build"', '"fix"'))
    clone.add("thrice", stub='"""Double a tensor."""\n\n\ndef double(x):\n    """Twice x."""\n')
    return clone


def marks(clone):
    code, lines = clone.kata("status", "--json")
    assert code == 0
    (section,) = json.loads("\n".join(lines))["sections"]
    return {e["slug"]: e["state"] for e in section["exercises"]}


@pytest.mark.parametrize("arguments", [[], ["tests/hidden"], ["-k", "values"]], ids=str)
def test_what_nobody_has_begun_is_todo(run_pytest, clone, arguments):
    code, told = run_pytest(*arguments, folder=clone.root)
    assert code == 0
    assert "3 todo" in told.splitlines()[-3]
    assert "failed" not in told and "error" not in told


@pytest.mark.parametrize(
    "arguments", [["-k", "double"], DOUBLE, ["-k", "double or twice"], [f"{DOUBLE[1]}::test_values"]], ids=str
)
def test_who_names_an_exercise_sees_how_its_start_fails(run_pytest, clone, arguments):
    code, told = run_pytest(*arguments, folder=clone.root)
    assert code == 1
    assert "wrong values from double(x)" in told
    assert "failing: double" in told
    assert set(marks(clone).values()) == {"todo"}


def test_a_stub_that_is_named_is_todo(run_pytest, clone):
    code, told = run_pytest("-k", "thrice", folder=clone.root)
    assert code == 0
    assert "3 todo" in told


def test_what_was_begun_is_judged(run_pytest, clone):
    file = clone.root / "exercises" / ROOM / "twice.py"
    file.write_text(f"{BROKEN}# begun\n")
    try:
        code, told = run_pytest(folder=clone.root)
        assert code == 1
        assert "1 failing, 2 todo" in told
        assert marks(clone) == {"double": "todo", "twice": "failing", "thrice": "todo"}
    finally:
        file.write_text(BROKEN)


def test_answers_that_lie_elsewhere_are_judged(run_pytest, clone):
    code, told = run_pytest("--answers=solutions", folder=clone.root)
    assert code == 0
    assert "9 passed" in told


@pytest.mark.parametrize(
    "expression, chosen, read",
    [
        ("double", 3, 3),
        ("DOUBLE", 3, 3),
        ("double", 3, 3),
        ("double and values", 1, 3),
        ("double and not (values or twice)", 2, 3),
        ("double or twice", 6, 6),
        ("not double", 6, 6),
        ("values", 3, 9),
        ("double or values", 5, 9),
        ("not (double and values)", 8, 9),
        ("hidden and double", 2, 3),
        ("double and no[0]", 0, 3),
    ],
)
def test_only_what_is_named_is_read(run_pytest, clone, expression, chosen, read):
    _, told = run_pytest("--collect-only", "-q", "-k", expression, folder=clone.root)
    assert told.count("::") == chosen
    left_out = f"{read - chosen} deselected"
    assert (left_out in told) == (read > chosen)
