"""Feedback as data: to JSON and back from whoever sent it, and as text."""

import ast
import json
import pickle
import re
from dataclasses import replace

import pytest

from grader.checks import CheckFailure, expect_that
from grader.core.sanitize import MOST_CHARACTERS, MOST_LINES
from grader.course import paths
from grader.course.arrays import Array
from grader.course.catalog import load
from grader.protocol.feedback import ROOM, Fact, Feedback, Heatmap, Listed, Where

PLACE = Where("exercises/e01_tensors/center.py", 11, "return x", "x float32[2]")
WHOLE = Feedback(
    "wrong values from f(x)",
    (Fact("values", "3 of 8 are wrong"), Fact("", "one line"), Fact("first", "at [0]: yours 5, wanted 1")),
    Heatmap(("××··", "·×··"), "batch=0, columns: time"),
    "shifted by one",
    PLACE,
)
TEXT = """\
wrong values from f(x)
  exercises/e01_tensors/center.py:11   return x
  where  x float32[2]
  values  3 of 8 are wrong
  one line
  first   at [0]: yours 5, wanted 1
  where   ××··   (batch=0, columns: time)
          ·×··
  likely  shifted by one"""


def test_a_place_stands_next_to_what_it_explains_and_a_file_comes_last():
    assert WHOLE.text == TEXT
    file = replace(WHOLE, where=Where(PLACE.file), heatmap=None)
    assert file.lines[-2:] == ["  likely  shifted by one", f"  {PLACE.file}"]


def test_a_learner_reads_which_check_it_is_and_where_a_hint_is():
    exercise = load().exercise("merge_heads")
    first, *body, last = WHOLE.lines_for(exercise, "It merges.")
    assert (first, last) == ("merge_heads · It merges.", "  hint: kata hint merge_heads")
    assert body == TEXT.splitlines()
    assert WHOLE.lines_for(replace(exercise, hints=()), "It merges.")[1:] == body


def test_the_step_before_is_named_within_the_same_lines():
    course = load()
    exercise, step = course.exercise("merge_heads"), course.exercise("shares_of_a_row")
    told = WHOLE.lines_for(exercise, "It merges.", step)
    assert told[-2:] == ["  the step before this: e01/shares_of_a_row", "  hint: kata hint merge_heads"]
    long = replace(WHOLE, facts=(Fact("", "line"),) * 99).lines_for(exercise, "It merges.", step)
    assert len(long) == MOST_LINES and long[-3] == "  likely  shifted by one"


def test_what_says_most_is_kept_where_there_is_too_much():
    long = replace(WHOLE, headline="E: a\nb", facts=(Fact("", "line"),) * 99)
    assert len(long.lines) == ROOM
    assert long.lines[1] == "    b" and long.lines[-1] == "  likely  shifted by one"
    assert len(replace(long, headline="line\n" * 99).lines) == ROOM


@pytest.mark.parametrize("feedback", [WHOLE, Feedback(""), replace(WHOLE, heatmap=None, where=None)])
def test_there_and_back_again(feedback):
    assert Feedback.from_json(json.loads(json.dumps(feedback.to_json()))) == feedback
    assert pickle.loads(pickle.dumps(feedback)) == feedback


@pytest.mark.parametrize(
    "data",
    [
        None,
        7,
        "text",
        [],
        {},
        {"headline": "wrong"},
        {**WHOLE.to_json(), "more": 1},
        {**WHOLE.to_json(), "headline": ["wrong"]},
        {**WHOLE.to_json(), "facts": [["yours"]]},
        {**WHOLE.to_json(), "facts": [["yours", {}]]},
        {**WHOLE.to_json(), "facts": 3},
        {**WHOLE.to_json(), "heatmap": [[1], ""]},
        {**WHOLE.to_json(), "heatmap": {}},
        {**WHOLE.to_json(), "likely": None},
        {**WHOLE.to_json(), "where": ["f.py", 10**400, "", ""]},
        {**WHOLE.to_json(), "where": ["f.py", True, "", ""]},
        {**WHOLE.to_json(), "where": ["f.py"]},
    ],
)
def test_what_is_no_feedback_is_none(data):
    assert Feedback.from_json(data) is None


def test_what_comes_from_a_child_is_short_and_plain():
    flood = Feedback("\x1b[2J\u202e" + "h" * 99, (Fact("f" * 999, "x\n" * 9999),) * 999, None, "l" * 999)
    sent = {**flood.to_json(), "facts": [list(fact) for fact in flood.facts], "likely": "l" * 999}
    read = Feedback.from_json(sent)
    assert read == flood.short() == read.short()
    assert read.headline.startswith("�[2J�") and read.likely == flood.likely
    assert len(read.facts) <= MOST_LINES
    texts = [read.headline, read.likely, *(text for fact in read.facts for text in fact)]
    assert sum(map(len, texts)) == MOST_CHARACTERS


def test_facts_are_named_as_they_are_given():
    failure = CheckFailure("wrong loss", likely="a sum", yours="7", first_row="1")
    facts = (Fact("yours", "7"), Fact("first row", "1"))
    assert failure.feedback == Feedback("wrong loss", facts, likely="a sum")
    assert pickle.loads(pickle.dumps(failure)).feedback == failure.feedback
    with pytest.raises(CheckFailure) as raised:
        expect_that(False, "wrong loss", yours=7.0, likely="a sum")
    assert raised.value.feedback == Feedback("wrong loss", (Fact("yours", "float 7.0"),), likely="a sum")


OURS = re.compile(r"\b(message|feedback|told|longrepr)\b")
CUTS = {"partition", "rpartition", "split", "rsplit", "splitlines"}
NAMES = re.compile(r"  \w+ {2}|.* · ")


def cuttings(source):
    """Where a text is cut that by its name holds feedback, or is looked through for what we write there."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            words = [a.value for a in node.args if isinstance(a, ast.Constant) and type(a.value) is str]
            is_named = any(map(NAMES.match, words))
            cuts = node.func.attr in CUTS and (OURS.search(ast.unparse(node.func.value)) or is_named)
            if cuts or (node.func.attr in ("startswith", "endswith", "find", "index") and is_named):
                yield f"{node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize(
    "source",
    [
        'head, _, body = first.message.partition("\\n")',
        "lines = told[0].message.splitlines()",
        'slug, _, title = str(report.longrepr).split(" · ")',
        'slug, title = head.split(" · ")',
        'causes = [line for line in rest if line.startswith("  likely  ")]',
    ],
)
def test_taking_our_own_text_apart_is_seen(source):
    assert list(cuttings(source))


def test_nobody_takes_our_own_text_apart():
    """Feedback is data until a face shows it."""
    files = [file for file in (paths.ROOT / "grader").rglob("*.py") if file.name != "feedback.py"]
    # `longrepr` of a suite that does not import is pytest's; records from before feedback was data are texts.
    others = {"collection.py", "records.py"}
    found = [f"{f}:{at}" for f in files for at in cuttings(f.read_text("utf-8")) if f.name not in others]
    assert found == []
    assert not any("split_map" in file.read_text("utf-8") for file in files)


def test_small_tensors_travel_as_numbers():
    tensors = (("yours", Array((2,), (1.5, "nan"))), ("wanted", Array((), (True,))))
    told = Feedback("wrong", (Fact("yours", "[1.5, nan]"),), listed=Listed(tensors, ("yours",)))
    for sent in (json.dumps(told.to_json()), json.dumps(told, default=vars)):
        assert Feedback.from_json(json.loads(sent)) == told


@pytest.mark.parametrize(
    "shape, numbers", [([2], [1]), ([2], [1, "x"]), ([1e9], []), ([99] * 99, []), ([1], [10**99])]
)
def test_what_is_no_small_tensor_is_no_feedback(shape, numbers):
    listed = [[["yours", {"shape": shape, "numbers": numbers}]], ["yours"]]
    assert Feedback.from_json({**Feedback("wrong").to_json(), "listed": listed}) is None
