"""A course's assignments stand in `course.toml`: what is set, what it is worth, when it is due."""

from datetime import datetime, timedelta, timezone

import pytest

from grader.core.errors import KataError
from grader.course import course_file, paths
from grader.course.assignments import arranged
from grader.course.catalog import Catalog
from grader.course.policy import Policy
from grader.course.rows import read

SHIPPED = read(paths.EXERCISES)
FIRST = SHIPPED.sections[0]
STEP, *_ = [e for e in FIRST.exercises if e.is_step]
ONE, TWO, THREE, *_ = [e for e in FIRST.exercises if not e.is_step]
DUE = datetime(2026, 11, 20, 23, 59, tzinfo=timezone(timedelta(hours=1)))


def said(folder, text) -> Catalog:
    (folder / "course.toml").write_text(text)
    return arranged(SHIPPED, course_file.load(folder))


def points(catalog, name):
    return {e.slug: e.points for e in catalog.assignment(name).exercises}


def test_without_one_all_is_as_it_comes(tmp_path):
    assert course_file.load(tmp_path).assignments == ()
    catalog = arranged(SHIPPED, course_file.load(tmp_path))
    assert catalog.assignments == SHIPPED.assignments
    assert catalog.set_exercises == SHIPPED.exercises
    with pytest.raises(KataError, match=r"no assignment 'week1': write it into course\.toml"):
        catalog.assignment("week1")


def test_it_is_read(tmp_path):
    text = 'title = "Ours"\n[grading]\nstrict = true\n'
    text += '[assignment.week1]\ntitle = "Tensors"\nexercises = ["e01"]\n'
    (tmp_path / "course.toml").write_text(text)
    told = course_file.load(tmp_path)
    assert (told.title, told.policy, told.assignments[0].title) == ("Ours", Policy(strict=True), "Tensors")


def test_assignments_are_those_of_the_course_and_then_what_is_set_nowhere(tmp_path):
    text = f'[assignment.late]\nexercises = ["{TWO.slug}"]\n'
    text += f'[assignment.early]\nexercises = ["{ONE.slug}", "e01/steps"]\n'
    catalog = said(tmp_path, text)
    assert [one.name for one in catalog.assignments[:3]] == ["late", "early", FIRST.name]
    early = {e.slug for e in catalog.assignment("early").exercises}
    assert early == {ONE.slug, *(e.slug for e in FIRST.exercises if e.is_step)}
    assert {e.slug for e in catalog.set_exercises} == early | {TWO.slug}
    assert catalog.exercise(TWO.slug).assignment == "late"
    assert catalog.exercise(THREE.slug).assignment == FIRST.name
    assert Catalog((catalog.assignment("early"),)).assignments == (catalog.assignment("early"),)
    every = [e.slug for one in catalog.assignments for e in one.exercises]
    assert sorted(every) == sorted(e.slug for e in SHIPPED.exercises), "each is in just one"


def test_points_are_of_each_or_of_the_whole(tmp_path):
    three = f'exercises = ["{ONE.slug}", "{TWO.slug}", "{THREE.slug}"]'
    each = points(said(tmp_path, f"[assignment.a]\n{three}\npoints = {{ {TWO.slug} = 7.5 }}"), "a")
    assert each == {ONE.slug: ONE.points, TWO.slug: 7.5, THREE.slug: THREE.points}
    whole = points(said(tmp_path, f"[assignment.a]\n{three}\npoints = 10"), "a")
    weights = [e.points for e in (ONE, TWO, THREE)]
    assert list(whole.values()) == pytest.approx([10 * w / sum(weights) for w in weights], abs=0.011)
    assert round(sum(whole.values()), 4) == 10
    steps = points(said(tmp_path, '[assignment.a]\nexercises = ["e01/steps"]\npoints = 5'), "a")
    assert round(sum(steps.values()), 4) == 5 and max(steps.values()) - min(steps.values()) <= 0.0101


def test_extras_weigh_nothing_and_are_not_missed(tmp_path):
    text = f'[assignment.a]\nexercises = ["{ONE.slug}"]\nextras = ["{TWO.slug}", "{ONE.slug}"]\npoints = 4'
    catalog = said(tmp_path, text)
    assert points(catalog, "a") == {ONE.slug: 4, TWO.slug: 0}
    assert catalog.exercise(TWO.slug).is_extra and not catalog.exercise(ONE.slug).is_extra
    assert catalog.exercise(TWO.slug) in catalog.set_exercises  # students get it
    with pytest.raises(KataError, match=r"extras is to list its exercises"):
        said(tmp_path, f'[assignment.a]\nexercises = ["{ONE.slug}"]\nextras = "{TWO.slug}"')


@pytest.mark.parametrize(
    "written", ["2026-11-20T23:59:00+01:00", '"2026-11-20T23:59+01:00"', '"2026-11-20T22:59Z"']
)
def test_a_due_date_has_a_zone(tmp_path, written):
    catalog = said(tmp_path, f'[assignment.a]\nexercises = ["e01"]\ndue = {written}')
    assert catalog.assignment("a").due == DUE


A = '[assignment.a]\nexercises = ["e01"]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('titel = "Ours"', r"nothing is called 'titel' \(did you mean 'title'\?\)"),
        ("title = 3", "title is 3; write a short text in quotes"),
        ("grading = 3", r"write a table \[grading\]"),
        ("[grading]\nstrict = 1", "say true or false"),
        ("[assignment]\nweek1 = 3", r"write a table \[assignment\.week1\]"),
        (A + 'dew = "x"', r"\[assignment\.a\]: nothing is called 'dew' \(did you mean 'due'\?\)"),
        ("[assignment.a]", "list its exercises and sections"),
        ("[assignment.a]\nexercises = 'e01'", "list its exercises and sections"),
        ('[assignment."week 1"]', "use a few letters, digits, - and _"),
        (f'[assignment.a]\nexercises = ["{ONE.slug}x"]', f"did you mean '{ONE.slug}'"),
        (f'{A}[assignment.b]\nexercises = ["{ONE.slug}"]', f"b\\] sets {ONE.slug}, as a does"),
        (f'[assignment.{FIRST.name}]\nexercises = ["e02"]', "called like a section"),
        (A + "points = true", "points is True; say what the whole is worth"),
        (A + "points = 0", "points is 0; say what the whole is worth"),
        (A + f"points = {{ {ONE.slug} = -1 }}", "say 0 to 100"),
        (A + f"points = {{ {ONE.slug}x = 1 }}", f"none of its exercises .did you mean '{ONE.slug}'"),
        (A + "due = 2026-11-20", "say date, time and zone"),
        (A + "due = 2026-11-20T23:59:00", "say date, time and zone"),
        (A + 'due = "tomorrow"', "due is 'tomorrow'; say date, time and zone"),
        (A + "due = 0001-01-01T00:00:00+14:00", "say date, time and zone"),
        (A + f'due = "{"9" * 100_000}"', r"9\.\.\.9+'; say date, time and zone"),
        (A + "points = nan", "points is nan; say what the whole is worth"),
        (A + "points = inf", "points is inf; say what the whole is worth"),
        (A + "points = -1", "points is -1; say what the whole is worth"),
        (A + "points = 1e-300", "points is 1e-300; say what the whole is worth"),
        (A + f"points = {'9' * 400}", r"points is 9+\.\.\.9+; say what the whole is worth"),
        (A + f"points = {'9' * 5000}", r"cannot be read: Exceeds the limit"),
        (A + f"points = {{ {ONE.slug} = nan }}", "say 0 to 100"),
        (A + f"points = {{ {ONE.slug} = {{ a = 1 }} }}", "say 0 to 100"),
        ("[grading]\nfine_print = nan", "fine_print is nan; say a share"),
        ("[grading]\nsteps = -1", "steps is -1; say points"),
        ("[grading]\nsteps = 2026-01-01", "say points from 0"),
        (A + 'title = "a\\nb\\u001b[31m"', "write a short text in quotes"),
        (A + 'title = "a\\u202eb"', "write a short text in quotes"),
        (f'title = "{"a" * 100_000}"', r"a\.\.\.a+'; write a short text"),
        (f'[assignment.{"a" * 5000}]\nexercises = ["e01"]', "use a few letters"),
        ('[assignment."a\\nb"]\nexercises = ["e01"]', "use a few letters"),
        ('[assignment.".."]\nexercises = ["e01"]', "use a few letters"),
        ('[assignment.CON]\nexercises = ["e01"]', "use a few letters"),
        (f"{A}{A.replace('.a', '.A')}", "a and A are one folder on some machines"),
        (f'[assignment.a]\nexercises = ["{"a" * 100_000}"]', "no exercise is called 'a"),
        ('[assignment.a]\nexercises = ["../.."]', "no exercise is called"),
        ("a = " + "[" * 2000 + "]" * 2000, "nested too deep"),
        ("#" + "a" * (4 << 20), "more than 4 MiB"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(tmp_path, text, words):
    with pytest.raises(KataError, match=words) as told:
        said(tmp_path, text)
    assert "\n" not in str(told.value)
    assert "course.toml" in str(told.value) and len(str(told.value)) < 400


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("points = nan", "has points = nan; say 0 to 100"),
        ("points = -1", "has points = -1; say 0 to 100"),
        ("points = 1e9", "say 0 to 100"),
        ('points = "2"', "has points = '2'; say 0 to 100"),
        ("order = 1", "has order = 1; say nothing: tables stand in the order of the section"),
        ("seconds = inf", "say how long judging may take"),
        ("seconds = 0", "say how long judging may take"),
        ("difficulty = 9", "say 1, 2 or 3"),
        ('path = "../.."', "say one of first, core, further"),
        ("title = 3", "say a text in quotes"),
        ("needs = 3", "say a list of texts"),
        ("hints = [3]", "say a list of texts"),
        ("optional = 1", "say true or false"),
        ("", "lacks 'title'"),
    ],
)
def test_what_no_exercise_can_have_is_said_in_a_line(tmp_path, row, words):
    section = tmp_path / "e01_one"
    section.mkdir()
    (section / "section.toml").write_text(f'title = "One"\n[exercise.first]\n{row}\n')
    with pytest.raises(KataError, match=f"section.toml: exercise 'first'.*{words}"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('title = "One"\n[exercise."../../x"]', r"in small letters, digits and _"),
        ('title = "One"\nexercise = [1]', r"write title = "),
        ('title = "One"\n[exercise]\nfirst = 3', r"write a table \[exercise\.merge_heads\]"),
        ("title = 3", r"write title = "),
    ],
)
def test_a_section_that_is_none_is_said_in_a_line(tmp_path, text, words):
    (tmp_path / "e01_one").mkdir()
    (tmp_path / "e01_one" / "section.toml").write_text(text)
    with pytest.raises(KataError, match=words):
        read(tmp_path)


def test_a_mark_before_the_text_is_none_of_it(tmp_path):
    (tmp_path / "course.toml").write_text('title = "Ours"\n', "utf-8-sig")
    assert course_file.load(tmp_path).title == "Ours"


def test_an_unknown_assignment_is_told_with_the_nearest(tmp_path):
    catalog = said(tmp_path, '[assignment.week1]\nexercises = ["e01"]')
    with pytest.raises(KataError, match=r"'wek1' \(did you mean 'week1'\?\); course\.toml has week1"):
        catalog.assignment("wek1")


def test_it_is_found_from_the_current_folder_upward(monkeypatch, tmp_path):
    monkeypatch.delenv(paths.VARIABLE, raising=False)
    below = tmp_path / "mine" / "submissions"
    below.mkdir(parents=True)
    (tmp_path / "mine" / "course.toml").write_text("")
    monkeypatch.chdir(below)
    assert paths._file_found(paths.ROOT) == tmp_path / "mine"
    assert paths._file_found(below) == below, "not beyond exercises"
    monkeypatch.chdir(tmp_path)
    assert paths._file_found(paths.ROOT) == paths.ROOT
