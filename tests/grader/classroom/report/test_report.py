"""The pages for a class, from records made by hand."""

import html
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from rich.console import Console

from grader.classroom import report
from grader.classroom.report import changes, file_names, overview, student
from grader.classroom.report.words import FeedbackPart, number, parts, percent
from grader.core import atomic_write
from grader.core.errors import KataError
from grader.course.catalog import Catalog, Section, load
from grader.course.exercise import Exercise
from grader.protocol.feedback import Fact, Feedback, Heatmap, Where
from grader.records.log import Change, Grade
from grader.records.records import (
    ByHand,
    CheckRecord,
    ExerciseRecord,
    StudentRecord,
    student_from_json,
    student_to_json,
    write_json,
)

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)> \"'><svg onload=alert(3)> javascript:alert(4)"
    " {{ 7 * 7 }} </style></title> \x1b[31m\x00 \u202egnp.exe "
) + "A" * 3000


def exercise(slug: str, section: str, order: int) -> Exercise:
    hints = ("Look at the dims.", "Transpose first.")
    return Exercise(
        slug, section, order, slug.title(), "build", "core", 2, 1, (), (), hints, "https://docs.pytorch.org"
    )


CATALOG = Catalog(
    (
        Section("e01_one", "One", (exercise("first", "e01_one", 1), exercise("second", "e01_one", 2))),
        Section("e02_two", "Two", (exercise("third", "e02_two", 3),)),
    )
)
FIRST = "at batch=0, time=1: yours 5, wanted 1"
WRONG = Feedback(
    "wrong values from double(x)",
    (Fact("values", "3 of 8 are wrong in float32[2, 4]"), Fact("first", FIRST)),
    Heatmap(("××··", "·×··"), "batch=0, columns: time"),
    "shifted by one",
    Where("exercises/e01_one/first.py"),
)


def check(
    name: str, outcome: str, told: str | Feedback = "", title: str = "Every number is doubled."
) -> CheckRecord:
    feedback, message = (told, told.text) if isinstance(told, Feedback) else (None, told)
    return CheckRecord(name, title, outcome, message, feedback=feedback)  # type: ignore[arg-type]


PASSED = ExerciseRecord("passed", 2.0, 2.0, (check("public::test_a", "passed", title="It works."),))
HALF = ExerciseRecord(
    "partial",
    1.0,
    2.0,
    (
        check("public::test_a", "passed", title="It works."),
        check("hidden::test_b[0]", "passed"),
        check("hidden::test_b[1]", "failed", WRONG),
    ),
)
TODO = ExerciseRecord("todo", 0.0, 2.0)
TAMPERED = ExerciseRecord("tampered", 0.0, 2.0, (check("hidden::test_b", "missing"),), ("replaces allclose",))
FAULT = ExerciseRecord("grader_fault", 0.0, 2.0, flags=("the engine stopped",))
NO_GPU = ExerciseRecord("not_graded", 0.0, 2.0, (check("hidden::test_g", "not_graded", "needs a GPU"),))
CLASS = [
    StudentRecord("ada", 7, {"first": PASSED, "second": PASSED, "third": NO_GPU}),
    StudentRecord("bob", 7, {"first": HALF, "second": TAMPERED, "third": TODO}, ("not read: link",)),
    StudentRecord("cyd", 7, {"first": HALF, "second": PASSED, "third": NO_GPU}),
    StudentRecord("dov", 7, {"first": TODO, "second": PASSED, "third": FAULT}),
]


class _Reader(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def pages(tmp_path, records, catalog=CATALOG) -> dict[str, _Reader]:
    report.write(records, catalog, tmp_path)
    files = [*tmp_path.glob("*.html"), *tmp_path.glob("students/*.html")]
    return {file.stem: _Reader(file.read_text("utf-8")) for file in files}


def test_feedback_is_shown_under_its_names():
    told = parts(WRONG)
    assert [part.name for part in told] == ["", "values", "first", "where", "likely"]
    assert told[0] == FeedbackPart("", "wrong values from double(x)")
    assert told[2].text == FIRST
    assert told[3].text == "batch=0, columns: time"
    assert "row 1 wrong at 1 to 2 of 4" in str(told[3].picture)


def test_a_line_of_the_answer_is_shown_with_what_it_held():
    where = Where("exercises/e01_one/first.py", 3, "f(x)", "x float32[2]")
    assert [(part.name, part.text) for part in parts(Feedback("your code raised E", where=where))] == [
        ("", "your code raised E"),
        ("", "exercises/e01_one/first.py:3   f(x)"),
        ("", "where  x float32[2]"),
    ]


def test_a_record_from_before_feedback_was_kept_is_shown(tmp_path):
    old = student_to_json(StudentRecord("bob", 7, {"first": HALF}))
    for one in old["exercises"]["first"]["checks"]:
        del one["feedback"]
    record = student_from_json(old)
    text = pages(tmp_path, [record])["bob"].text
    assert "wrong values from double(x)" in text and "××··" in text
    assert [row.likely for row in overview.page([record], CATALOG, {"bob": "x"}).failed] == ["shifted by one"]


def test_a_students_page_tells_what_was_wanted_and_what_came():
    page = student.page(CLASS[1], CATALOG)
    assert [section.title for section in page.sections] == ["One", "Two"]
    first, second = page.sections[0].exercises
    assert (first.score, first.points, first.hints) == ("1", "2", CATALOG.exercise("first").hints)
    (failed,) = first.open_checks
    assert (failed.title, failed.count) == ("Every number is doubled.", "on 1 of 2 inputs")
    assert [passed.title for passed in first.passed] == ["It works."]
    assert (second.flags, second.word) == (("replaces allclose",), "tampered with the checks")
    assert [c.word for c in second.silent] == ["did not run"]
    assert page.sections[1].shown == []


def test_the_job_comes_before_the_fine_print():
    strides = replace(check("hidden::test_a", "failed", title="Any strides."), fine=True)
    checks = (strides, check("hidden::test_b", "failed", title="It works."))
    record = StudentRecord("ada", 7, {"first": ExerciseRecord("failed", 0.0, 2.0, checks)})
    (judged,) = student.page(record, CATALOG).sections[0].exercises
    assert [(told.title, told.fine) for told in judged.open_checks] == [
        ("It works.", False),
        ("Any strides.", True),
    ]


def test_the_page_holds_no_names_of_tests(tmp_path):
    page = pages(tmp_path, CLASS)["bob"]
    assert "Every number is doubled." in page.text
    for file in tmp_path.glob("students/*.html"):
        assert not re.search(r"test_|hidden::|assert ", file.read_text("utf-8"))


def test_a_student_reads_nothing_of_others(tmp_path):
    text = pages(tmp_path, CLASS)["bob"].text
    assert not {"ada", "cyd", "dov"} & set(re.findall(r"\w+", text))


def test_the_class_in_numbers():
    page = overview.page(CLASS, CATALOG, dict.fromkeys(["ada", "bob", "cyd", "dov"], "x.html"))
    assert (page.students, page.exercises, page.points) == (4, 3, "6")
    assert (page.mean, page.median) == ("60 %", "62 %")  # of 4/4, 1/6, 3/4 and 2/4
    assert page.bins == [0, 1, 0, 0, 0, 1, 0, 1, 0, 1]
    whole, one, two = page.heats
    assert [row.student for row in one.rows] == ["ada", "cyd", "dov", "bob"]
    assert [cell.text for cell in one.rows[3].cells] == ["50", "!"]
    assert [cell.word for cell in two.rows[0].cells] == ["not graded here"]
    assert [cell.text for cell in whole.rows[0].cells] == ["100", "?"]
    items = {item.slug: item for item in page.items}
    assert items["first"].difficulty == 0.5
    assert (items["first"].done, items["first"].judged) == (3, 4)
    assert (items["third"].judged, items["third"].difficulty, items["third"].discrimination) == (1, 0.0, None)
    assert [(row.slug, row.failed, row.judged, row.likely, row.likely_count) for row in page.failed] == [
        ("first", 2, 3 - 1, "shifted by one", 2)
    ]


def reviewed(records):
    return overview.page(records, CATALOG, {r.student: f"{r.student}.html" for r in records}).review


def test_what_wants_a_person_stands_by_student_the_most_urgent_first():
    review = reviewed(CLASS)
    assert review.shared == [] and review.count == 5
    assert [(one.student, [(r.what, r.slugs, r.why) for r in one.reasons]) for one in review.students] == [
        (
            "bob",
            [
                ("tampered with the checks", ["second"], "replaces allclose"),
                ("submission", [], "not read: link"),
            ],
        ),
        ("dov", [("not graded: a fault of the grader", ["third"], "the engine stopped")]),
        ("ada", [("needs a grade by hand", ["third"], "needs a GPU")]),
        ("cyd", [("needs a grade by hand", ["third"], "needs a GPU")]),
    ]


def test_one_reason_names_all_its_exercises():
    flagged = replace(HALF, flags=("changes a global setting",))
    record = StudentRecord("ada", 7, {"second": FAULT, "first": FAULT, "third": flagged})
    (one,) = reviewed([record]).students
    assert [(r.what, r.slugs) for r in one.reasons] == [
        ("not graded: a fault of the grader", ["first", "second"]),
        ("flagged", ["third"]),
    ]


def test_what_was_graded_by_hand_needs_nobody():
    record = StudentRecord("ada", 7, {"third": replace(NO_GPU, by_hand=ByHand(1.0))})
    assert reviewed([record]).count == 0


def test_an_exercise_that_runs_against_the_others_is_flagged():
    scores = [(0, 2, 2), (0, 2, 1), (2, 0, 0), (1, 0, 1)]
    slugs = ("first", "second", "third")
    records = [
        StudentRecord(
            f"s{i}", 7, {slug: ExerciseRecord("partial", s, 2.0) for slug, s in zip(slugs, row, strict=True)}
        )
        for i, row in enumerate(scores)
    ]
    shared = reviewed(records).shared
    assert ("negative discrimination", "first") in [(one.what, one.slug) for one in shared]


def test_what_many_share_is_the_exercises_matter():
    records = [StudentRecord(f"s{i:03}", 7, {"first": FAULT if i < 6 else PASSED}) for i in range(60)]
    review = reviewed([*records, StudentRecord("zoe", 7, {"first": FAULT, "second": TAMPERED})])
    (shared,) = review.shared
    assert (shared.slug, shared.why, len(shared.students)) == ("first", "the engine stopped", 7)
    assert [(one.student, len(one.reasons)) for one in review.students] == [("zoe", 1)]
    few = reviewed([*records[:6], *(replace(records[6], student=f"t{i}") for i in range(60))])
    assert few.shared == [] and len(few.students) == 6


def test_an_exercise_that_is_in_the_catalog_no_more(tmp_path):
    found = pages(tmp_path, [StudentRecord("ada", 7, {"gone": PASSED, "first": PASSED})])
    assert "No longer in the catalog" in found["ada"].text
    assert "gone" in found["index"].text


@pytest.mark.parametrize(
    "records",
    [
        [StudentRecord("ada", 7)],
        [StudentRecord("ada", 7, {"first": NO_GPU})],
        [StudentRecord("ada", 7, {"first": ExerciseRecord("passed", 0.0, 0.0)})],
        CLASS[:1],
    ],
    ids=["no exercises", "nothing graded", "no points", "one student"],
)
def test_a_class_with_little_in_it(tmp_path, records):
    assert {"index", "ada"} == set(pages(tmp_path, records))


def test_nothing_hostile_becomes_markup(tmp_path):
    told = (check("hidden::t", "failed", f"{HOSTILE}\n  yours   {HOSTILE}\n  likely  {HOSTILE}", HOSTILE),)
    bad = ExerciseRecord("failed", 0.0, 2.0, told, (HOSTILE,))
    odd = ExerciseRecord("tampered", 0.0, 2.0, told, (HOSTILE,))
    records = [
        StudentRecord(HOSTILE, 7, {"first": bad, HOSTILE: odd}, (HOSTILE,)),
        StudentRecord("../../etc/passwd", 7, {"first": bad}),
        StudentRecord("a#b?c%41&d", 7, {"first": bad}),
    ]
    found = pages(tmp_path, records)
    assert len(found) == 4 and not [*tmp_path.parent.rglob("passwd*")]
    for page in found.values():
        assert not {"script", "img", "iframe", "object", "link", "base", "form"} & {
            tag for tag, _ in page.elements
        }
        for tag, attributes in page.elements:
            assert not [name for name in attributes if name.startswith("on")]
            assert tag != "a" or (attributes["href"] or "").startswith(("#", "https://docs.", "students/"))
        assert sum(tag == "style" for tag, _ in page.elements) == 1
        assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", page.text)
    assert "alert(1)" in found["index"].text
    for _, attributes in found["index"].elements:
        if (attributes.get("href") or "").startswith("students/"):
            file = (attributes["href"] or "").partition("#")[0].replace("%20", " ")
            assert (tmp_path / file).is_file()


def test_each_student_has_a_file_of_their_own():
    names = ["ada", "Ada", "a/b", "a_b", "..", "", "x" * 300, "=cmd", "Åsa Öberg", "con.", "index"]
    found = file_names(names)
    assert found["ada"] == "ada.html"
    assert len({file.lower() for file in found.values()}) == len(names)
    assert all(
        re.fullmatch(r"[A-Za-z0-9._-]{1,140}\.html", file) and not file.startswith(".")
        for file in found.values()
    )


def test_two_records_of_one_student_are_told():
    with pytest.raises(KataError, match="two results are of the student 'ada'"):
        file_names(["ada", "ada"])


def test_pages_ask_nobody_and_run_nothing(tmp_path):
    for page in pages(tmp_path, CLASS).values():
        assert not [attributes for _, attributes in page.elements if "src" in attributes]
        (policy,) = [
            a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"
        ]
        assert "default-src 'none'" in (policy or "")


def run(results, to) -> tuple[str, str]:
    out, err = (Console(file=io.StringIO(), width=300) for _ in range(2))
    report.run(results, to, out, err)
    return out.file.getvalue(), err.file.getvalue()  # type: ignore[attr-defined]


def save(folder, record) -> None:
    write_json(folder / f"{record.student}.json", student_to_json(record))


def test_the_verb_says_where_the_report_lies(tmp_path):
    slug = load().exercises[0].slug
    save(tmp_path, StudentRecord("ada", 7, {slug: PASSED}))
    told, noted = run(tmp_path, tmp_path / "report")
    assert told.strip().endswith("report/index.html (1 student)")
    assert noted == ""
    first = (tmp_path / "report" / "index.html").read_text("utf-8")
    run(tmp_path, tmp_path / "report")
    assert (tmp_path / "report" / "index.html").read_text("utf-8") == first


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data["exercises"]["first"].update(status="splendid"),
        lambda data: data["exercises"]["first"].update(status=["passed"]),
        lambda data: data["exercises"]["first"]["checks"][0].update(outcome="maybe"),
        lambda data: data["exercises"]["first"]["checks"][0].update(title=3),
        lambda data: data.update(student=None),
        lambda data: data.update(notes=[[]]),
    ],
)
def test_damaged_records_are_left_out_and_told_in_one_line(tmp_path, damage):
    save(tmp_path, CLASS[0])
    data = student_to_json(CLASS[1])
    damage(data)
    (tmp_path / "bob.json").write_text(json.dumps(data))
    (tmp_path / "cut.json").write_text('{"schema": 1, "stu')
    _, noted = run(tmp_path, tmp_path / "report")
    assert noted.count("\n") == 1 and "and 1 more like it" in noted
    assert not (tmp_path / "report" / "students" / "bob.html").exists()
    (tmp_path / "ada.json").unlink()
    with pytest.raises(KataError, match="no results"):
        run(tmp_path, tmp_path / "report")


def test_pages_of_names_that_nobody_has_any_more_are_taken_away(tmp_path):
    for record in CLASS[:2]:
        save(tmp_path, record)
    run(tmp_path, tmp_path / "report")
    pages = tmp_path / "report" / "students"
    (pages / "mine.html").write_text("<h1>My notes</h1>")
    (tmp_path / f"{CLASS[1].student}.json").unlink()
    _, noted = run(tmp_path, tmp_path / "report")
    assert f"taken away: {CLASS[1].student}.html" in noted
    assert {file.name for file in pages.iterdir()} == {f"{CLASS[0].student}.html", "mine.html"}


def test_a_page_of_somebody_elses_is_not_overwritten(tmp_path):
    (tmp_path / "index.html").write_text("<h1>My site</h1>")
    with pytest.raises(KataError, match="no page of ours"):
        report.write(CLASS, CATALOG, tmp_path)
    assert (tmp_path / "index.html").read_text() == "<h1>My site</h1>"


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(KataError, match="cannot write the report") as told:
        report.write(CLASS, CATALOG, tmp_path / "file" / "report")
    assert "\n" not in str(told.value)


def test_a_page_is_whole_or_the_old_one(tmp_path, monkeypatch):
    atomic_write.write(tmp_path / "page.html", "old")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        atomic_write.write(tmp_path / "page.html", "new")
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    assert (tmp_path / "page.html").read_text() == "old"


def test_numbers_in_few_digits():
    assert [number(x) for x in (2.0, 1.5, 1 / 3, 0.0)] == ["2", "1.5", "0.33", "0"]
    assert [percent(x) for x in (0.0, 0.001, 0.5, 0.999, 1.0)] == [0, 1, 50, 99, 100]


def changed(student: str, exercise: str, *why: str, when: str = "2026-11-20T12:00:00+00:00") -> Change:
    before = None if why[0] == "first judged" else Grade("passed", 2.0, 2.0)
    return Change(when, student, exercise, before, Grade("partial", 0.5, 2.0), why)


def test_the_page_of_changes_tells_whose_score_became_what_and_why(tmp_path, monkeypatch):
    report.write(CLASS, CATALOG, tmp_path)
    assert "changes.html" not in (tmp_path / "index.html").read_text()
    late = Change(
        "2026-11-21T08:30:00+00:00",
        CLASS[0].student,
        "e01_one",
        None,
        Grade("late penalty", 1.0),
        ("late penalty",),
    )
    mine = CLASS[0].student
    log = [changed(mine, "first", "first judged"), changed(mine, "first", "suite", HOSTILE), late]
    others = [changed("nobody", "first", "answer"), changed(mine, "fourth", "answer")]
    report.write(CLASS, CATALOG, tmp_path, log=[*log, *others])
    assert 'href="changes.html"' in (tmp_path / "index.html").read_text()
    page = (tmp_path / "changes.html").read_text()
    text = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.partition("<main")[2])).split())
    assert text.index("2026-11-21 08:30 UTC 1 by hand or for lateness") < text.index(
        "2026-11-20 12:00 UTC 1 down, 1 judged for the first time"
    )
    assert f"{mine} first 2 of 2: passed 0.5 of 2: partly passed suite, <script>" in text
    assert f"{mine} e01_one late penalty: 1 late penalty" in text
    assert "<script" not in page and "nobody" not in text and "fourth" not in text
    monkeypatch.setattr(changes, "MOST_ROWS", 1)
    report.write(CLASS, CATALOG, tmp_path, log=log)
    assert "1 older changes" in (tmp_path / "changes.html").read_text()
