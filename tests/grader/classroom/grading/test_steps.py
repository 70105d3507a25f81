"""First steps are graded where somebody wrote one, and weigh what the course says: nothing, as a rule."""

import io
import json
from dataclasses import replace

import pytest

from grader.classroom.cli.class_table import class_table
from grader.classroom.cli.instructor import to_judge
from grader.classroom.export import load_results, to_canvas, to_csv
from grader.classroom.export.gradescope import result
from grader.classroom.grading.grade import GradingSettings, grade
from grader.classroom.report import write as write_report
from grader.classroom.submissions.class_folder import Submission
from grader.course import paths
from grader.course.catalog import Catalog, load
from grader.records.records import ExerciseRecord, StudentRecord, student_to_json, write_json
from grader.verdict import cache_key
from tests.grader.support.clone import Clone

CATALOG = load()
FIRST, SHARES, MERGE = map(CATALOG.exercise, ("first_tensor", "shares_of_a_row", "merge_heads"))
WRONG = SHARES.file("solutions").read_bytes().replace(b"keepdim=True", b"keepdim=False")
RIGHT, START = (SHARES.file(tree).read_bytes() for tree in ("solutions", "exercises"))


def weighing(points: float) -> Catalog:
    every = [replace(s, exercises=tuple(_worth(e, points) for e in s.exercises)) for s in CATALOG.sections]
    return Catalog(tuple(every))


def _worth(exercise, points):
    return replace(exercise, points=points) if exercise.is_step else exercise


def judged(catalog, only, out, *answers):
    work = tuple(Submission(f"s{number}", held) for number, held in enumerate(answers))
    return [e.slug for e in to_judge(work, catalog, only, out)]


def test_nobody_is_told_of_steps_that_nobody_wrote(tmp_path):
    found = judged(CATALOG, None, tmp_path, {"merge_heads": b"", SHARES.slug: START}, {})
    assert "merge_heads" in found and not any(CATALOG.exercise(slug).is_step for slug in found)


def test_a_step_is_judged_where_somebody_wrote_it(tmp_path):
    found = judged(CATALOG, None, tmp_path, {"merge_heads": b""}, {SHARES.slug: RIGHT})
    assert [s for s in found if CATALOG.exercise(s).is_step] == [SHARES.slug]
    assert judged(CATALOG, None, tmp_path, {SHARES.slug: RIGHT}) == [SHARES.slug]


def test_who_asks_for_steps_gets_them(tmp_path):
    steps = [e.slug for e in CATALOG.select(["e01/steps"])]
    assert judged(CATALOG, ["e01_tensors/steps"], tmp_path, {}) == steps
    assert judged(CATALOG, [SHARES.slug], tmp_path, {}) == [SHARES.slug]
    assert FIRST.slug not in judged(CATALOG, ["e01"], tmp_path, {SHARES.slug: RIGHT})
    assert SHARES.slug in judged(CATALOG, ["e01"], tmp_path, {SHARES.slug: RIGHT})
    assert {*steps} < {*judged(CATALOG, ["e01", "e01/steps"], tmp_path, {})}


def test_steps_that_weigh_something_are_set_as_exercises_are(tmp_path):
    steps = [e.slug for e in CATALOG.select(["e01/steps"])]
    assert judged(weighing(1.0), None, tmp_path, {SHARES.slug: RIGHT}) == steps
    assert SHARES.slug not in judged(weighing(1.0), None, tmp_path, {"merge_heads": b""})


def test_who_hands_in_nothing_keeps_the_steps_of_before(tmp_path):
    before = StudentRecord("s0", 0, {SHARES.slug: ExerciseRecord("passed", 0.0, 0.0)})
    write_json(tmp_path / "s0.json", student_to_json(before))
    assert judged(CATALOG, None, tmp_path, {}) == [SHARES.slug]


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """A class of which some did steps: right, wrong, untouched."""
    merge = MERGE.file("solutions").read_bytes()
    work = [
        Submission("ada", {SHARES.slug: RIGHT, FIRST.slug: FIRST.file("solutions").read_bytes()}),
        Submission("bob", {SHARES.slug: WRONG, "merge_heads": merge}),
        Submission("cyn", {SHARES.slug: START, "merge_heads": merge}),
    ]
    settings = GradingSettings(tmp_path_factory.mktemp("results"), seed=3, jobs=2, confined=False)
    return grade(work, [FIRST, SHARES, MERGE], settings)


def test_they_are_judged_and_weigh_nothing(records):
    ada, bob, cyn = records
    assert [r.exercises[SHARES.slug].status for r in records] == ["passed", "failed", "todo"]
    assert {(e.score, e.points) for r in records for s, e in r.exercises.items() if s != "merge_heads"} == {
        (0.0, 0.0)
    }
    assert (ada.score, ada.points) == (0.0, 2.0) and bob.score == cyn.score == 2.0
    assert ada.exercises[SHARES.slug].job == 1.0 and bob.exercises[SHARES.slug].job < 1


def test_the_class_table_counts_them_apart(records):
    table = class_table(list(records), load())
    names = [column.header for column in table.columns]
    assert names == ["student", "score", "points", "passed", "todo", "steps"]
    assert [*table.columns[-1].cells] == ["2 of 2", "0 of 2", "", ""]
    assert [*table.columns[names.index("todo")].cells] == ["1", "", "", ""]
    without = [replace(r, exercises={"merge_heads": r.exercises["merge_heads"]}) for r in records]
    assert class_table(without, load()).columns[-1].header == "todo"


def test_pages_show_them_in_short(records, tmp_path):
    index = write_report(records, CATALOG, tmp_path).read_text("utf-8")
    pages = {
        name: (tmp_path / "students" / f"{name}.html").read_text("utf-8") for name in ("ada", "bob", "cyn")
    }
    assert "First steps: 2 of 2 done" in pages["ada"] and SHARES.title not in pages["ada"]
    assert "First steps: 0 of 2 done" in pages["bob"] and SHARES.relative in pages["bob"]
    assert "keepdim" in pages["bob"]
    assert "First steps" not in pages["cyn"]
    assert "2 of 2</td>" in index and f"item-{SHARES.slug}" not in index and "item-merge_heads" in index


def test_a_class_that_did_nothing_but_steps_has_pages(records, tmp_path):
    only = [replace(r, exercises={SHARES.slug: r.exercises[SHARES.slug]}) for r in records[:2]]
    index = write_report(only, CATALOG, tmp_path).read_text("utf-8")
    assert 'id="steps"' in index and 'id="map"' not in index


def test_tables_of_scores_leave_out_what_has_none(records, tmp_path):
    out = io.StringIO()
    to_csv(records, CATALOG, out)
    assert out.getvalue().splitlines()[:2] == [
        "student,merge_heads,e01_tensors,total,points,flags",
        "ada,0,0,0,2,",
    ]
    out = io.StringIO()
    to_canvas(records, CATALOG, out)
    assert out.getvalue().startswith("Student,ID,SIS User ID,SIS Login ID,Section,merge_heads,Final Points\n")
    cases = {case["name"].split(":")[0]: case for case in result(records[1], CATALOG)["tests"]}
    assert cases[SHARES.slug]["status"] == "failed" and "max_score" not in cases[SHARES.slug]
    assert cases["merge_heads"]["max_score"] == 2.0


def test_records_of_before_get_the_points_of_today(records, tmp_path):
    for record in records:
        write_json(tmp_path / f"{record.student}.json", student_to_json(record))
    dearer = load_results(tmp_path, weighing(2.0))
    shares = [r.exercises[SHARES.slug] for r in dearer]
    assert [(e.score, e.points) for e in shares] == [(2.0, 2.0), (0.0, 2.0), (0.0, 2.0)]
    out = io.StringIO()
    to_csv(dearer, weighing(2.0), out)
    assert "first_tensor,shares_of_a_row,merge_heads,e01_tensors_steps,e01_tensors" in out.getvalue()
    page = write_report(dearer, weighing(2.0), tmp_path / "report").read_text("utf-8")
    assert "First steps" in page


def test_a_verdict_depends_on_no_points():
    dearer = replace(SHARES, points=2.0)
    addresses = {cache_key.of(e, RIGHT, 3, confined=False) for e in (SHARES, dearer)}
    assert len(addresses) == 1


def test_it_depends_on_the_one_suite():
    assert SHARES.suites == ("public",)
    assert cache_key.of(SHARES, RIGHT, 3, confined=False) != cache_key.of(FIRST, RIGHT, 3, confined=False)


@pytest.fixture
def clone(tmp_path):
    clone = Clone(tmp_path / "clone")
    clone.add("double")
    clone.add_step("twice")
    return clone


@pytest.mark.slow
def test_the_course_says_what_steps_weigh(clone, tmp_path):
    work, out = tmp_path / "work", tmp_path / "out"
    step = work / "ada" / "e01_tensors" / "steps" / "twice.py"
    step.parent.mkdir(parents=True)
    step.write_text("def double(x):\n    return x + x\n")
    arguments = ("grade", str(work), "--out", str(out), "--sandbox", "off")
    for points in (0, 3):
        (clone.root / "course.toml").write_text(f"[grading]\nsteps = {points}\n")
        code, lines = clone.kata(*arguments)
        assert code == 0, lines
        record = json.loads((out / "ada.json").read_text())
        assert record["score"] == record["points"] == points
        assert record["exercises"].keys() == {"twice"}
        assert record["exercises"]["twice"]["status"] == "passed"
    assert len([*(out / ".judged").iterdir()]) == 1
    assert clone.kata("export", "--results", str(out), "--format", "csv")[1][1] == "ada,3,3,3,3,"
    (clone.root / "course.toml").write_text("[grading]\nsteps = true\n")
    code, lines = clone.kata(*arguments)
    assert code == 2 and lines == ["kata: course.toml: steps is True; say points from 0 to 100"]


def test_no_step_of_ours_has_a_hidden_suite():
    for step in (e for e in CATALOG.exercises if e.is_step):
        assert not step.file("hidden").exists()
        assert step.file("hidden").is_relative_to(paths.HIDDEN)
