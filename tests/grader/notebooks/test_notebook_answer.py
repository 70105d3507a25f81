"""What is read out of a notebook that was handed in, and what it may have gone through before."""

import json
import sys
import time

import pytest

from grader.classroom.submissions.notebook import MOST_BYTES, answers_in, held
from grader.core.cell_text import python
from grader.core.errors import KataError
from grader.course.catalog import Catalog, load
from grader.course.cell_names import answer_cell
from grader.notebooks.start import split

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


def plain(answer):
    """Without what keeps lines that only show something from doing harm."""
    lines = answer.replace(b"with _demonstration():", b"").splitlines()
    return b"\n".join(line for line in lines if not line.startswith(b"from grader.core.kernel_names import"))


def run(*cells, slug="merge_heads"):
    """The names that the answer in these cells defines."""
    namespace = {"__name__": "answer"}
    exec(text_of(*cells, slug=slug), namespace)
    return namespace


@pytest.mark.parametrize("exercise", [e for e in CATALOG.exercises if not e.is_project], ids=lambda e: e.slug)
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
            if tree == "solutions":  # which may have another number of empty lines, and show something
                assert plain(found).split() == wanted.split()
            else:
                assert found == wanted


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
    better_text = "def merge_heads(x):\n    return 'better'"
    better = code(better_text)
    worse = code("def merge_heads(x):\n    return 'worse'")
    for cells in (
        [own(START), better, checks(), worse],
        [better, own(START), checks()],
        [own(better_text), own(START), checks()],
        [worse, better, checks()],
        [better, code(START), checks()],
        [own(better_text), worse, checks()],  # the exercise's own cell
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
        == "\n%kept\n"
    )
    assert text_of(own("%%bash\nrm -rf /")) is None


SIMPLE = "def merge_heads(x):\n    return x, ORDER"


@pytest.mark.parametrize(
    "text",
    [
        f"files = !ls\n{SIMPLE}\nORDER = 1",
        f"{SIMPLE}\nORDER = 1\nt = %timeit -o merge_heads(3)\nprint(t.best)",
        f"!pip install \\\n  torch\n{SIMPLE}\nORDER = 1",
        f"%%capture\n{SIMPLE}\nORDER = 1",
        f"\n%%time\n%%capture out\n{SIMPLE}\nORDER = 1",
        f"%%writefile answer.py\n{SIMPLE}\nORDER = 1",
        f"{SIMPLE}\n%time ORDER = 1",
        f"{SIMPLE}\nORDER = 1\nmerge_heads??\n?print\n%cd ..",
        f"    {SIMPLE}\n    ORDER = 1".replace("\n    return", "\n        return"),
        f"{SIMPLE}\nORDER = 1\nfor f in get_ipython().user_ns:\n    display(f, Out[3])\n    %cd",
        f"{SIMPLE}\nORDER = 1\nif In[-1]:\n    x = 1\nprint(Out)",
        f"ORDER = 1\n{SIMPLE}\nprint('''\n%kept\n'''); of_a_deleted_cell\nraise SystemExit",
        f"import seaborn_is_not_here\nORDER = 1\n{SIMPLE}\nout = merge_heads(nothing)\nout.shape\nassert 0",
        f"ORDER = 1\n{SIMPLE}\nfor k in nothing:\n    print(\n        k\n    )\nwhile 1/0: pass",
    ],
    ids=range(14),
)
def test_whatever_a_kernel_understands_costs_nothing(text):
    rest = text.replace(SIMPLE, "")
    for cells in ([own(text), checks()], [code(text)], [own(SIMPLE), code(rest)]):
        assert run(*cells)["merge_heads"](1) == (1, 1)


def test_a_line_that_shows_something_takes_nothing_with_it_that_fails():
    namespace = run(
        code("x = undefined\ny = 3\nclass Line: pass"),
        own("def merge_heads(x): return helper(x)\nprint(merge_heads(x))\nz = Line()\nprint(y)"),
        code("def helper(x): return x + 1"),
        checks(),
    )
    assert namespace["merge_heads"](1) == 2 and namespace["y"] == 3 and "x" not in namespace
    once = text_of(own("def merge_heads(x): return x\nprint(x)"))
    assert text_of(own(once.removeprefix(HEAD))) == once, "as formgrader's notebooks hold it"
    assert "kernel_names" not in text_of(own(RIGHT), code("display(merge_heads(x)); %timeit x"))


def test_an_experiment_that_uses_a_name_again_leaves_the_function():
    helper = code("def mask(n): return [n]")
    cells = [own("def merge_heads(x): return mask(x)"), code("merge_heads = merge_heads(3)"), helper]
    cells += [code("mask = mask(4)"), code("mask = max(mask)"), code("for mask in mask: pass"), checks()]
    assert run(*cells)["merge_heads"](1) == [1]
    table = code("def table(): return {1: 2}"), code("table = table()")
    assert run(*table, own("def merge_heads(x): return table[x]"), checks())["merge_heads"](1) == 2
    right = CATALOG.exercise("batched_matmul").file("solutions").read_text("utf-8")
    scores = code("q = torch.ones(2, 3)\nscores = torch.softmax(q, -1)\nscores = torch.relu(scores)")
    for cells in ([own(right, "batched_matmul"), scores, checks("batched_matmul")], [code(right), scores]):
        assert callable(run(*cells, slug="batched_matmul")["scores"])


@pytest.mark.parametrize("kept", [[], [checks()]], ids=["no check", "a check"])
@pytest.mark.parametrize(
    "again",
    [
        "merge_heads = merge_heads(torch.zeros(1, 2, 3, 4))",
        "for merge_heads in range(3): pass",
        "with open('x') as merge_heads: pass",
        "import math as merge_heads",
    ],
)
def test_an_experiment_leaves_the_function_where_no_cell_says_what_it_answers(again, kept):
    assert run(code(SIMPLE), code("ORDER = 1"), code(again), *kept)["merge_heads"](3) == (3, 1)


def test_a_function_that_is_there_twice_is_told():
    cells = own("def merge_heads(x): return 1"), code("def merge_heads(x): return 2"), checks()
    found = held(notebook(*cells), CATALOG)
    assert found.notes == ("merge_heads is defined in another cell, too; the exercise's own counts",)
    assert held(notebook(own(RIGHT), checks()), CATALOG).notes == ()


UNKNOWN = "def fuse(x):\n    return x"


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ([code(UNKNOWN)], "answers no exercise by its names"),
        ([own(UNKNOWN, "no_exercise")], "in a cell of another name"),
        ([own(RIGHT), own(UNKNOWN, "no_exercise")], "in a cell of another name"),
        ([code("def merge_head(x): return x")], "merge_head, which may be meant for merge_heads"),
        ([own(RIGHT), code("def describes(x): return x")], "describes, which may be meant for describe"),
        ([code("def merge_heads(x:")], "no Python"),
        ([own(RIGHT), code("def describe(x:")], "no Python"),
        ([own(RIGHT), code(UNKNOWN)], ""),
        ([own(RIGHT), code("\n".join(f"def f{n}(): 1" for n in range(9000)))], "too many functions"),
        ([own(RIGHT), code("fig = 1\nx?"), code("not Python")], ""),
        ([own(RIGHT, "renamed")], ""),
        ([code("import torch"), checks(), code("")], ""),
    ],
    ids=range(12),
)
def test_what_nobody_can_tell_the_exercise_of_is_told(cells, why):
    found = held(notebook(*cells), CATALOG)
    assert why in found.why and bool(why) == bool(found.why)
    slugs = {exercise.slug for exercise in found.doubtful}
    assert "merge_heads" not in slugs or "merge_heads" not in found.answers


def test_ipython_s_own_language_takes_ipython(monkeypatch):
    python.cache_clear()
    monkeypatch.setitem(sys.modules, "IPython.core.inputtransformer2", None)
    assert run(own(f"%%time\n{RIGHT}"))["merge_heads"], "which has all that it takes"
    with pytest.raises(KataError, match="`pip install ipython`"):
        text_of(own(f"%matplotlib inline\n{RIGHT}"))


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
        "\n" * 7_000 + "check(\n" * 2_000,
        "!ls\n" * 400 + "x = 1\n" * 400,
        "\u2028'''\u2028%a\x0c'''\n!ls\n" * 400,
    ],
    ids=range(20),
)
def test_code_made_to_hurt_whoever_reads_it_does_not(text):
    names = ",".join(f"a{i}" for i in range(9000))
    started = time.process_time()
    found = answers_in(notebook(code(text), own(f"{RIGHT}helper\n{names}"), code(text), checks()), CATALOG)
    assert found["merge_heads"].decode().startswith(HEAD)
    assert time.process_time() - started < 60  # seconds of work, not of waiting: no endless search
