"""Whatever comes in has its right outcome, the same in every face: table, gradebook, CSV, Canvas, report."""

import csv
import html
import json
import re
from pathlib import Path

import pytest

from grader.classroom.report import file_names
from tests.grader.classroom.inbox.hand_ins import EXERCISES, HAND_INS, IDS, ROSTER, HandIn
from tests.grader.support.clone import HIDDEN, PUBLIC, SOLUTION, STUB, Clone

api = pytest.importorskip("nbgrader.api", reason="nbgrader is an optional extra: torchkata[class]")

pytestmark = pytest.mark.slow

TEXTS = {"stub": STUB, "solution": SOLUTION, "public": PUBLIC, "hidden": HIDDEN}
SECTION = "e01_tensors"
FACES = {
    "canvas": ["export", "--format", "canvas", "--to", "canvas.csv"],
    "json": ["export", "--format", "json", "--to", "scores.json"],
    "csv": ["export", "--format", "csv", "--to", "scores.csv"],
    "report": ["report", "--to", "report"],
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The folder in which a class of all of them was graded and shown, and what was printed."""
    clone = Clone(tmp_path_factory.mktemp("clone"))
    for slug in EXERCISES:
        clone.add(slug, **{name: text.replace("double", slug) for name, text in TEXTS.items()}, specimens=())
    for hand_in in HAND_INS:
        _lay(hand_in, clone.root / "submissions")
    (clone.root / "roster.csv").write_text(ROSTER, "utf-8")
    options = ["--gradebook", "book.db", "--sandbox", "off", "--out", "results"]
    status, lines = clone.kata("grade", "submissions", *options)
    assert status == 0, "\n".join(lines)
    for arguments in FACES.values():
        done, told = clone.kata(*arguments, "--results", "results", "--gradebook", "none")
        assert done == 0, "\n".join(told)
    return clone.root, lines


def _lay(hand_in: HandIn, folder: Path) -> None:
    if not any(name.startswith("/") for name in hand_in.files):
        (folder / hand_in.student).mkdir(parents=True)
    for name, content in hand_in.files.items():
        file = folder / name[1:] if name.startswith("/") else folder / hand_in.student / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if callable(content):
            content(file)
        else:
            file.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.fixture(scope="module")
def records(graded):
    found = (json.loads(file.read_text()) for file in (graded[0] / "results").glob("[!.]*.json"))
    return {record["student"]: record["exercises"] for record in found}


@pytest.mark.parametrize("hand_in", HAND_INS, ids=lambda one: one.student)
def test_a_hand_in_earns_what_it_is_to_earn(graded, records, hand_in):
    found = records[hand_in.student]
    assert {s: _number(found[s]) for s in EXERCISES} == hand_in.earned, found
    todo = [slug for slug, one in zip(EXERCISES, hand_in.outcome.split(), strict=True) if one == "0"]
    assert [slug for slug in EXERCISES if found[slug]["status"] == "todo"] == todo
    own = "\n".join(line for line in graded[1] if line.startswith(f"{hand_in.student}: "))
    assert hand_in.says in own, own
    assert ("needs manual grade: " in own) == (None in hand_in.earned.values()), own


def _number(record):
    return None if record["status"] in ("not_graded", "grader_fault") else record["score"]


def test_every_face_tells_the_same(graded, records):
    folder, _ = graded
    wanted = {one.student: one.earned for one in HAND_INS}
    assert {who: {s: _number(found[s]) for s in EXERCISES} for who, found in records.items()} == wanted
    rows = {row["student"]: row for row in _rows(folder / "scores.csv")}
    assert {who: {s: _cell(row[s], "not graded") for s in EXERCISES} for who, row in rows.items()} == wanted
    rows = {
        row["SIS Login ID"] or IDS.get(row["ID"]) or f"{row['Student']}_{row['ID']}": row
        for row in _rows(folder / "canvas.csv")
        if "Points Possible" not in row["Student"]
    }
    assert {who: {s: _cell(row[s], "") for s in EXERCISES} for who, row in rows.items()} == wanted
    students = json.loads((folder / "scores.json").read_text())["students"]
    assert {
        one["student"]: {s: one["exercises"][s]["score"] for s in EXERCISES} for one in students
    } == wanted
    pages = file_names(wanted)
    for who, earned in wanted.items():
        page = (folder / "report" / "students" / pages[who]).read_text("utf-8")
        told = zip(EXERCISES, re.findall(r'<td class="number">(.*) of', page), strict=True)
        assert {slug: _cell(points, "–") for slug, points in told} == earned, who
    with api.Gradebook(f"sqlite:///{folder / 'book.db'}") as book:
        for who, earned in wanted.items():
            for slug, score in earned.items():
                grade = book.find_grade(slug, SECTION, SECTION, who)
                assert (grade.auto_score, grade.needs_manual_grade) == (score, score is None), (who, slug)


def test_every_face_names_the_file_that_a_person_is_to_look_at(graded, records):
    folder, lines = graded
    flags = {row["student"]: row["flags"] for row in _rows(folder / "scores.csv")}
    page, pages = _text(folder / "report" / "index.html"), file_names(flags)
    with api.Gradebook(f"sqlite:///{folder / 'book.db'}") as book:
        for hand_in in HAND_INS:
            for slug in (s for s in EXERCISES if hand_in.earned[s] is None):
                (reason,) = records[hand_in.student][slug]["flags"]
                assert any(line.startswith(f"{hand_in.student}: ") and reason in line for line in lines)
                assert f"{slug}: {reason}" in flags[hand_in.student]
                assert reason in page
                assert reason in _text(folder / "report" / "students" / pages[hand_in.student])
                remark = book.find_comment(f"{slug}-answer", SECTION, SECTION, hand_in.student).comment
                assert reason[:160] in remark


def _rows(file):
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def _cell(text, unknown):
    return None if text == unknown else float(text)


def _text(page):
    return html.unescape(re.sub(r"<[^>]+>", "", page.read_text("utf-8")))
