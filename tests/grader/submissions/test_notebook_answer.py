"""What is read out of a notebook that was handed in, and what it may have gone through before."""

import json
import time

import pytest

from grader.core.errors import KataError
from grader.course.catalog import Catalog, load
from grader.course.cell_names import answer_cell
from grader.submissions.notebook import MOST_BYTES, answers_in
from grader.submissions.notebook_answer import split

CATALOG = load()
MERGE = CATALOG.exercise("merge_heads")
HEAD, START = split(MERGE.file("exercises"))
RIGHT = """from torch import Tensor


def merge_heads(x: Tensor) -> Tensor:
    batch, heads, time, dim = x.shape
    return x.transpose(1, 2).reshape(batch, time, heads * dim)
"""


def code(text, name=None, kind="code"):
    about = {} if name is None else {"nbgrader": {"grade_id": name, "solution": True, "grade": False}}
    return {"cell_type": kind, "source": text.splitlines(keepends=True), "metadata": about, "outputs": []}


def own(text, slug="merge_heads"):
    return code(text, answer_cell(slug))


def checks(slug="merge_heads"):
    return code(f'check("{slug}")', slug)


def notebook(*cells):
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()


def text_of(*cells, slug="merge_heads"):
    found = answers_in(notebook(*cells), CATALOG)
    return found[slug].decode() if slug in found else None


def run(*cells, slug="merge_heads"):
    """The names that the answer in these cells defines."""
    namespace = {"__name__": "answer"}
    exec(text_of(*cells, slug=slug), namespace)
    return namespace


@pytest.mark.parametrize("exercise", CATALOG.exercises, ids=lambda e: e.slug)
def test_what_was_put_in_comes_out_again_byte_for_byte(exercise):
    for tree in ("exercises", "solutions"):
        body = split(exercise.file(tree))[1]
        wanted = (
            split(exercise.file("exercises"))[0] + body
        ).encode()  # a solution need not hold the statement
        for cells, catalog in (
            ([own(body.strip("\n"), exercise.slug), checks(exercise.slug)], CATALOG),
            ([code(body)], Catalog((CATALOG.section(exercise),))),  # some editors leave no metadata
        ):
            found = answers_in(notebook(*cells), catalog)[exercise.slug]
            assert found.split() == wanted.split()
            assert found == wanted or tree == "solutions"  # which may have another number of empty lines


def test_only_what_is_there_is_an_answer():
    assert answers_in(notebook(own(RIGHT), checks(), checks("describe")), CATALOG).keys() == {"merge_heads"}
    assert answers_in(notebook(), CATALOG) == {}
    assert answers_in(notebook(code("x = 1")), CATALOG) == {}
    assert text_of(own("\n \n"), checks()) is None


def test_helpers_come_from_cells_of_their_own_and_nothing_else_does():
    text = text_of(
        code(
            "import torch\nfrom torch import Tensor\nORDER = (0, 2, 1, 3)\nraise SystemExit  # an experiment"
        ),
        code("def swapped(x):\n    return x.permute(ORDER)\n\nx = torch.randn(2, 3)\nprint(x)"),
        own("def merge_heads(x: Tensor):\n    return swapped(x).flatten(2)"),
        code("merge_heads(x)"),
        checks(),
    )
    assert "randn" not in text and "SystemExit" not in text and "import torch\n" not in text
    namespace = {}
    exec(text, namespace)
    assert callable(namespace["swapped"]) and namespace["ORDER"] == (0, 2, 1, 3)


def test_a_split_cell_is_put_together():
    first, second = (
        "SCALE = 2\n\n\ndef halved(x):\n    return x / SCALE",
        "def merge_heads(x):\n    return halved(x)",
    )
    for cells in (
        [own(first), own(second)],  # some editors copy the metadata
        [own(first), code(second)],
        [code(first), own(second)],
        [own(second), code(first)],
        [own(second), checks(), code(first)],
        [code(first), code(second)],
    ):
        assert run(*cells, checks())["merge_heads"](4) == 2


def test_what_runs_last_before_the_checks_counts():
    better = code("def merge_heads(x):\n    return 'better'")
    worse = code("def merge_heads(x):\n    return 'worse'")
    for cells in (
        [own(START), better, checks(), worse],
        [worse, better, checks()],
        [own(RIGHT), worse, better, checks()],
        [checks(), better],
        [
            own(START),
            worse,
            code("def outer(f):\n    return lambda x: 'better'"),
            code("merge_heads = outer(merge_heads)"),
            checks(),
        ],
    ):
        assert run(*cells)["merge_heads"](4) == "better"


def test_what_a_definition_needs_comes_before_it_though_later_cells_bind_it_too():
    scale, more = code("SCALE = 2\nfrom torch import Tensor"), code("SCALE = 3\nfrom torch import Tensor")
    body = own("def merge_heads(x: Tensor, scale=SCALE):\n    return x * scale, SCALE")
    assert run(scale, body, more, checks())["merge_heads"](1) == (2, 3)
    assert run(scale, body, more)["merge_heads"](1) == (2, 3)
    assert run(scale, body, checks(), more)["merge_heads"](1) == (2, 2)
    assert run(body, more, checks())["merge_heads"](1) == (3, 3)  # such as cells that were moved
    table = own("class Base:\n    size = [SIZE for _ in range(2)]\n\n\ndef merge_heads(x): return Base.size")
    assert run(code("UNIT = 1"), table, code("SIZE = 4 * UNIT"), checks())["merge_heads"](1) == [4, 4]


def test_a_name_that_is_bound_anew_from_itself():
    namespace = run(
        code("def faster(f): return f"),
        code("def helper(x): return x + 1"),
        code("helper = faster(helper)"),
        own("def merge_heads(x): return helper(x)"),
        code("merge_heads = faster(merge_heads)"),
        checks(),
    )
    assert namespace["merge_heads"](1) == 2


def test_what_a_comprehension_calls_its_items_is_nobodys_value():
    namespace = run(
        code("n = 3"),
        own("SIZES = [k for k in range(n)]\n\n\ndef merge_heads(x): return n, SIZES"),
        code("k = 1 / 0\nones = [1 for n in range(2)]"),
        checks(),
    )
    assert namespace["merge_heads"](0) == (3, [0, 1, 2])


@pytest.mark.parametrize(
    "text",
    [
        "import os as helper",
        "for helper in [max]: pass",
        "if True:\n    def helper(*x): return 1",
        "try:\n    from math import nothing as helper\nexcept ImportError:\n    helper = max",
        "with open('/dev/null') as helper: pass",
        "match 3:\n    case helper: pass",
        "(helper := 3)",
        "class helper: pass",
        "first, *helper = 1, 2",
        "async def helper(): pass",
    ],
)
def test_whatever_binds_a_name_is_found(text):
    assert "helper" in run(code(text), own("def merge_heads(x): return helper"), checks())


def test_another_exercises_cells_help_out_and_do_not_take_over():
    # Both exercises ask for a function of this name.
    share, device = (
        own(f"def add_positions(x): return {n!r}", n) for n in ("expand_not_repeat", "device_agnostic")
    )
    for cells in ([share, checks("expand_not_repeat"), device], [device, share], [share, device]):
        for slug in ("expand_not_repeat", "device_agnostic"):
            assert run(*cells, slug=slug)["add_positions"](1) == slug
    namespace = run(
        own("import math\n\ndef helper(): return math.pi", "describe"),
        own("def merge_heads(x): return helper()"),
    )
    assert namespace["merge_heads"](0) > 3


def test_tables_filled_below_and_star_imports_come_along():
    namespace = run(
        code("from math import *"),
        code("TABLE = {}\nTABLE['pi'] = pi\nTABLE.clear()"),
        own("def merge_heads(x): return TABLE[x], sqrt(4)"),
    )
    assert namespace["merge_heads"]("pi")[1] == 2


def test_the_future_comes_first():
    future = "from __future__ import annotations"
    for cells in (
        [own(f"{future}\ndef merge_heads(x: Unknown): return helper(x)"), code("def helper(x): return x")],
        [code("def helper(x): return x"), own(f"{future}\n\ndef merge_heads(x: Unknown): return helper(x)")],
    ):
        assert run(*cells, checks())["merge_heads"](3) == 3


def test_what_only_notebooks_understand_is_left_out():
    body = "def merge_heads(x):\n    %timeit 1\n    return '''\n%kept\n'''"
    assert (
        run(own(f"%matplotlib inline\n!pip install torch\nmerge_heads?\n{body}"))["merge_heads"](1)
        == "\npass\n"
    )
    assert run(own(f"%%time\n{body.replace('%timeit 1', 'pass')}"))["merge_heads"](1) == "\n%kept\n"
    assert text_of(own("%%bash\nrm -rf /")) is None


def test_text_that_is_no_python_is_handed_on_as_it_is():
    assert text_of(own("def merge_heads(x:\n    pass"), checks()) == f"{HEAD}def merge_heads(x:\n    pass\n"
    assert text_of(own("a\0b")) == f"{HEAD}a\0b\n"
    assert text_of(own("'\ud800'")) == f"{HEAD}'?'\n"


def test_a_cell_of_another_kind_is_still_the_answer():
    for kind in ("markdown", "raw", None):
        assert text_of(code(RIGHT, answer_cell("merge_heads"), kind)) == HEAD + RIGHT


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"a":' * 100_000, "not JSON"),
        (b"[]", "no list of cells"),
        (b"null", "no list of cells"),
        (b'{"worksheets": []}', "no list of cells"),
        (b'{"cells": {}}', "no list of cells"),
        (b" " * (MOST_BYTES + 1), "larger than 32 MiB"),
        (notebook(own("x = 1\n" * 100_000)), "more than"),
        (notebook(*[own("x")] * 3000), "cells of code"),
    ],
    ids=range(11),
)
def test_what_is_no_notebook_is_one_line(content, words):
    with pytest.raises(KataError, match=words) as told:
        answers_in(content, CATALOG)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "cell",
    [
        None,
        3,
        [],
        {},
        {"cell_type": "code"},
        {"cell_type": "code", "source": 3, "metadata": 3},
        {"cell_type": ["code"], "source": [1, None, "x = 1"], "metadata": {"nbgrader": []}},
        {"cell_type": "code", "source": {"a": 1}, "metadata": {"nbgrader": {"grade_id": ["x"]}}},
        {"cell_type": "code", "source": "x", "metadata": {"nbgrader": {"grade_id": "-answer"}}},
        {"cell_type": "code", "source": "x", "metadata": {"nbgrader": {"grade_id": "../../x-answer"}}},
    ],
)
def test_odd_cells_harm_no_others(cell):
    assert text_of(cell, own(RIGHT), cell) == HEAD + RIGHT


DEEP = 50_000


@pytest.mark.parametrize(
    "text",
    [
        "(" * DEEP,
        "x = " + "(" * 150 + ")" * 150,
        "x = " + "-" * DEEP + "1",
        "x = a" + ".b" * DEEP,
        "x = 1" + "+1" * DEEP,
        "x = " + "[" * 90 + "]" * 90,
        "lambda: " * 5000 + "1",
        "x = " + "not " * DEEP + "1",
        "x = a" + "[0]" * DEEP,
        "x = a" + "()" * DEEP,
        "".join(f"{' ' * i}if x:\n" for i in range(99)) + " " * 99 + "x = 1",
        "x = " + "f'{" * 99,
        "x = 1;" * 30_000,
        "\n".join("helper = helper" for _ in range(7_000)),
        "=".join(f"a{i}" for i in range(9000)) + "=0\n" + "a0\n" * 6000,
        "%" * DEEP,
        "?\n" * 7_000,
    ],
    ids=range(17),
)
def test_code_made_to_hurt_whoever_reads_it_does_not(text):
    names = ",".join(f"a{i}" for i in range(9000))
    started = time.process_time()
    found = answers_in(notebook(code(text), own(f"{RIGHT}helper\n{names}"), code(text), checks()), CATALOG)
    assert found["merge_heads"].decode().startswith(HEAD)
    assert time.process_time() - started < 60  # seconds of work, not of waiting: no endless search
