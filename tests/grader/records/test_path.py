"""Which way a learner goes, what comes next on it, and which steps are known without having been done."""

import json

import pytest

from grader.authoring import lint
from grader.core.errors import KataError
from grader.course import catalog, paths
from grader.course.catalog import Catalog, Section
from grader.course.exercise import FOLDERS, Exercise
from grader.records import progress, progress_file, route
from grader.records.route import Route


def row(slug, section, path="first", needs=(), optional=False, difficulty=1):
    return Exercise(
        slug=slug,
        section=section,
        order=1,
        title=slug,
        kind="build",
        path=path,
        points=1,
        difficulty=difficulty,
        needs=tuple(needs),
        concepts=(),
        hints=(),
        reading="",
        optional=optional,
    )


FIRST = (
    row("shape", "e01_tensors"),
    row("numel", "e01_tensors", needs=["shape"]),
    row("one_hot", "e01_tensors", optional=True),
    row("describe", "e01_tensors", "core", needs=["numel"]),
    row("gather", "e01_tensors", "core", needs=["describe", "one_hot", "shape"], difficulty=2),
)
SECOND = (
    row("gradient", "e02_autograd"),
    row("squares", "e02_autograd", "further", needs=["gradient", "not_released"]),
)
COURSE = Catalog((Section("e01_tensors", "Tensors", FIRST), Section("e02_autograd", "Gradients", SECOND)))
TODO = dict.fromkeys((e.slug for e in COURSE.exercises), "todo")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(progress_file, "FILE", tmp_path / "progress.json")
    monkeypatch.setitem(FOLDERS, "exercises", tmp_path)
    for exercise in COURSE.exercises:
        exercise.file("exercises").parent.mkdir(parents=True, exist_ok=True)
        exercise.file("exercises").write_text("")
    return tmp_path


def slugs(exercises):
    return " ".join(e.slug for e in exercises)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (Route("first"), "shape gradient fold squares roll"),
        (Route("core"), "fold squares roll"),
        (Route("section", "e01_tensors"), "shape fold roll"),
    ],
    ids=str,
)
def test_further_exercises_come_behind_those_of_all_sections(path, words):
    first = [row(s, "e01_tensors", way, difficulty=2) for s, way in [("fold", "core"), ("roll", "further")]]
    second = [row("gradient", "e02_autograd"), row("squares", "e02_autograd", "core", difficulty=2)]
    sections = (
        Section("e01_tensors", "Tensors", (FIRST[0], *first)),
        Section("e02_autograd", "Gradients", tuple(second)),
    )
    assert slugs(path.stretch(Catalog(sections))) == words


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (Route("first"), "shape numel describe gradient gather squares"),
        (Route("core"), "describe gather squares"),
        (Route("section", "e01_tensors"), "shape numel describe gather"),
    ],
    ids=str,
)
def test_a_path_has_its_order_and_optional_steps_are_not_on_it(path, words):
    assert slugs(path.stretch(COURSE)) == words
    seen, after, walked = dict(TODO), None, []
    while after := progress.following(COURSE, seen, after, path=path):
        seen[after.slug] = "done"
        walked.append(after)
    assert slugs(walked) == words


def test_an_easy_exercise_follows_the_last_step_that_it_needs():
    rows = [row(slug, "e01_tensors") for slug in ("one", "two", "three")]
    more = [row("early", "e01_tensors", "core", ["two"]), row("late", "e01_tensors", "core", ["one", "far"])]
    far = row("far", "e01_tensors", "core", ["three"])
    course = Catalog((Section("e01_tensors", "Tensors", (*rows, far, *more)), COURSE.sections[1]))
    assert slugs(route.like_a_book(course)) == "one two early three far late gradient"


def test_the_audit_tells_what_a_first_reader_would_come_to_too_early_or_not_at_all():
    steps = [row(f"step{i}", "e03_more") for i in range(lint.MOST_STEPS + 1)]
    early = row("early", "e03_more", "core", ["one_hot", "gather", "describe", "step0"])
    more = Section("e03_more", "More", (*steps, early))
    told = list(lint._reading_problems(Catalog((*COURSE.sections, more)), more))
    assert [where for where, _ in told] == ["early", "early"]
    assert "'one_hot', which is optional" in told[0][1] and "'gather', which comes later" in told[1][1]
    bare = Section("e03_more", "More", (*steps, row("hard", "e03_more", "core", ["step0"], difficulty=2)))
    ((where, words),) = lint._reading_problems(Catalog((*COURSE.sections, bare)), bare)
    assert where == "e03_more" and "among 10 steps, step0 to step9" in words
    # one that is in their midst will do
    mid = row("mid", "e03_more", "core", ["step4"])
    held = Section("e03_more", "More", (*steps, mid))
    assert not list(lint._reading_problems(Catalog((*COURSE.sections, held)), held))


def test_this_course_goes_from_steps_to_exercises_all_along():
    if paths.is_clone():
        course = catalog.load()
        assert not [told for section in course.sections for told in lint._reading_problems(course, section)]


def test_who_has_opened_what_is_not_on_the_path_goes_on_from_there():
    after = {e.slug: e for e in COURSE.exercises}
    assert progress.following(COURSE, TODO, after["one_hot"], path=Route("first")).slug == "gradient"
    assert progress.following(COURSE, TODO, after["gradient"], path=Route("core")).slug == "squares"
    in_first = Route("section", "e01_tensors")
    assert progress.following(COURSE, TODO, after["squares"], path=in_first).slug == "shape"


def test_who_does_the_job_knows_the_steps_it_needs_and_those_by_way_of_others():
    seen = progress.with_known(COURSE, {**TODO, "gather": "works"}, {})
    assert [slug for slug, state in seen.items() if state == "known"] == ["shape", "numel", "one_hot"]
    assert seen["describe"] == "todo", "an exercise is never known"
    assert progress.with_known(COURSE, seen, {}) == seen
    assert progress.with_known(COURSE, {**seen, "gather": "failing"}, {})["shape"] == "todo"
    assert progress.following(COURSE, seen).slug == "describe"


def test_known_is_never_written_over_a_verdict_nor_kept(folder):
    by_slug = {e.slug: e for e in COURSE.exercises}
    progress.remember({by_slug["shape"]: "failing", by_slug["gather"]: "done"})
    assert progress.states(COURSE)["shape"] == "failing"
    assert progress.states(COURSE)["numel"] == "known"
    data = json.loads((folder / "progress.json").read_text())
    assert data["states"].keys() == {"shape", "gather"}
    data["states"]["gradient"] = ["known", data["states"]["shape"][1]]
    (folder / "progress.json").write_text(json.dumps(data))
    assert progress.states(COURSE)["gradient"] == "todo"


def test_the_step_before_is_the_last_one_that_is_not_done():
    gather, shape, squares = (
        next(e for e in COURSE.exercises if e.slug == s) for s in ("gather", "shape", "squares")
    )
    assert progress.step_before(COURSE, gather, TODO).slug == "numel"
    done = {**TODO, "numel": "done"}
    assert progress.step_before(COURSE, gather, done).slug == "shape"
    assert progress.step_before(COURSE, gather, {**done, "shape": "known"}).slug == "one_hot"
    assert progress.step_before(COURSE, gather, {**done, "shape": "done", "one_hot": "done"}) is None
    assert progress.step_before(COURSE, shape, TODO) is None
    assert progress.step_before(COURSE, squares, TODO).slug == "gradient"


def test_who_was_never_asked_begins_at_the_front_unless_they_have_done_without():
    assert progress.path_of(COURSE, TODO) == Route("first")
    assert progress.path_of(COURSE, {**TODO, "describe": "works"}) == Route("core")
    assert progress.path_of(COURSE, {**TODO, "describe": "works", "shape": "done"}) == Route("first")


def test_a_choice_is_remembered_beside_what_was_seen(folder):
    assert progress.chosen(COURSE) is None
    progress.remember({FIRST[0]: "done"})
    progress.choose(Route("section", "e02_autograd"))
    assert progress.path_of(COURSE, TODO) == Route("section", "e02_autograd")
    assert progress.states(COURSE)["shape"] == "done"
    fewer = Catalog(COURSE.sections[:1])
    assert progress.chosen(fewer) is None
    for path in ("first", {"name": "first"}, {"name": [], "section": {}}, {"name": "section", "section": ""}):
        (folder / "progress.json").write_text(json.dumps({"path": path}))
        assert progress.chosen(COURSE) is None


def test_what_is_said_at_the_end_is_about_the_path():
    done = {**TODO, **dict.fromkeys((e.slug for e in FIRST), "done")}
    section = Route("section", "e01_tensors")
    assert progress.following(COURSE, done, path=section) is None
    assert progress.end_of(COURSE, done, section) == "everything in e01_tensors is done; `kata path` leads on"
    works = {**done, "describe": "works"}
    assert "everything in e01_tensors does its job" in progress.end_of(COURSE, works, section)
    assert progress.end_of(COURSE, done, Route("core")) == "everything is done"


@pytest.mark.parametrize(
    ("name", "section", "wanted"),
    [
        ("first", "", Route("first")),
        ("core", "", Route("core")),
        ("section", "", Route("section", "e02_autograd")),
        ("section", "e01", Route("section", "e01_tensors")),
        ("e01", "", Route("section", "e01_tensors")),
    ],
)
def test_a_path_has_names(name, section, wanted):
    assert route.named(COURSE, name, section, SECOND[0]) == wanted


@pytest.mark.parametrize(
    ("name", "section", "words"),
    [
        (
            "frist",
            "",
            "'frist' is no path: choose first, core, or section and one of e01_tensors, e02_autograd",
        ),
        ("section", "e07", "'e07' is no path"),
        ("core", "e01", "goes through all sections; leave 'e01' out"),
        ("e01", "e02", "is no path"),
    ],
)
def test_what_is_no_path_is_told(name, section, words):
    with pytest.raises(KataError) as told:
        route.named(COURSE, name, section, SECOND[0])
    assert words in str(told.value)


def test_every_need_of_the_course_is_there():
    if paths.is_clone():
        course = catalog.load()
        known = {e.slug for e in course.exercises}
        assert {need for e in course.exercises for need in e.needs} <= known
