"""From patches to specimens: each does what its patch did, alone and beside any other."""

from itertools import permutations

import pytest

from grader.authoring.bring import places
from grader.authoring.bring.patches import Patch
from grader.core.errors import KataError
from grader.course.specimens import parsed

RIGHT = """def one(x):
    x = x + 1
    if x:

        x = x * 2
    return x


def two(x):
    x = x + 1
    for _ in x:
        x = x * 2
        x.go()
    return x
"""
LINES = RIGHT.split("\n")


def changed(*edits):
    """The text with lines, by number, in the place of others: (first, how many, lines)."""
    lines = [*LINES]
    for first, count, into in sorted(edits, reverse=True):
        lines[first - 1 : first - 1 + count] = into
    return "\n".join(lines)


def bugs(*wrong):
    return [Patch(f"b{n}", "about", f"b{n}.patch", {"a.py": text}) for n, text in enumerate(wrong)]


def applied(told, right=RIGHT):
    """What comes of the right program where all specimens are applied, in any order."""
    texts = "\n".join(f'bug {name} test_x "": about\n{text}' for name, text in told.items())
    found = set()
    for order in permutations(parsed(texts, "here")):
        files = {"a.py": right.encode()}
        for one in order:
            files = one.applied(files)
        found.add(files["a.py"].decode())
    return found


@pytest.mark.parametrize(
    "edits",
    [
        [(1, 1, ["def one(x, y=0):"])],
        [(2, 1, ["    x = x + 2"])],
        [(2, 1, [])],
        [(11, 1, ["    while x:"])],
        [(12, 1, [])],
        [(12, 2, [])],
        [(13, 1, ["    x.go()"])],
        [(13, 1, ["        if x:", "            x.go()", "", "        x.gone()"])],
        [(4, 0, ["        x.first()"])],
        [(14, 0, ["    x.last()"])],
        [(1, 0, ["import math", ""])],
        [(7, 8, [])],
        [(2, 1, ["    x = 1"]), (10, 1, ["    x = 2"]), (14, 1, ["    return 3"])],
        [(1, 14, ["", "x = 1"])],
        [(3, 3, ["  x = 1"])],
    ],
)
def test_any_change_is_written(edits):
    wrong = changed(*edits)
    assert applied(places.specimens(bugs(wrong), {"a.py": RIGHT})) == {wrong}


def test_changes_side_by_side_go_together():
    edits = [(2, 1, ["    x = 7"]), (3, 1, ["    if not x:"]), (6, 1, ["    return 8"]), (12, 1, [])]
    told = places.specimens(bugs(*(changed(edit) for edit in edits)), {"a.py": RIGHT})
    assert applied(told) == {changed(*edits)}


def test_two_insertions_in_one_place_go_together():
    told = places.specimens(
        bugs(changed((3, 0, ["    x = 7"])), changed((3, 0, ["    x = 8"]))), {"a.py": RIGHT}
    )
    assert len(applied(told)) == 1


def test_two_parts_of_a_line_go_together():
    right = {"a.py": "y = one(x, 2) + 3\n"}
    told = places.specimens(bugs("y = two(x, 2) + 3\n", "y = one(x, 2) - 3\n", "y = one(x) + 3\n"), right)
    assert applied(told, right["a.py"]) == {"y = two(x) - 3\n"}


def test_what_occurs_once_is_not_widened():
    told = places.specimens(bugs(changed((13, 1, ["        x.stop()"]))), {"a.py": RIGHT})
    assert told == {"b0": "@ a.py\n- x.go()\n+ x.stop()\n"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((2, 1, ["    x = 7"]), (2, 1, ["    x = 8"])),
        ((2, 3, ["    x = 7"]), (3, 1, [])),
        ((2, 3, ["    x = 7"]), (3, 0, ["    x = 8"])),
    ],
)
def test_two_that_change_the_same_lines(one, other):
    with pytest.raises(KataError, match=r"b0.patch and b1.patch both change line \d of a.py"):
        places.specimens(bugs(changed(one), changed(other)), {"a.py": RIGHT})


def test_two_of_which_no_line_tells_the_place():
    right = {"a.py": "x\n" * 40}
    with pytest.raises(
        KataError, match=r"b0.patch: no lines around line 20 of a.py say which place is meant"
    ):
        places.specimens(bugs("x\n" * 19 + "y\n" + "x\n" * 20), right)
