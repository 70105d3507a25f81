"""A course's own exercises beside those of a torchkata elsewhere."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from grader.core.errors import KataError
from grader.course import paths, sources
from grader.course.catalog import Catalog, Section
from grader.course.exercise import Exercise
from grader.course.rows import joined, read
from tests.grader.support.clone import HIDDEN, PUBLIC, SOLUTION, STUB, Clone

OWN = {
    "exercises/e20_own/triple.py": STUB,
    "solutions/e20_own/triple.py": SOLUTION,
    "tests/public/e20_own/test_triple.py": PUBLIC,
    "tests/hidden/e20_own/test_triple.py": HIDDEN,
}
"""The texts of an exercise of double's, under another name."""

HIDES = """
import os
assert os.path.exists({exercises!r}) and not os.path.exists({tests!r}), "more is seen than an answer may see"
"""


class Course:
    """A course's folder with an exercise of its own, and the torchkata that its `kata` belongs to."""

    def __init__(self, folder):
        self.torchkata, self.root = Clone(folder / "torchkata"), folder / "mine"
        self.torchkata.add("double")
        for name in ("README.md", "Makefile"):  # which a release has
            shutil.copy(paths.ROOT / name, self.torchkata.root)
        self.kata("init", "--course", str(self.root), folder=folder)
        self.kata("new", "e20_own", "triple")
        for name, text in OWN.items():
            assert (self.root / name).is_file()
            (self.root / name).write_text(text.replace("double", "triple") if "tests" in name else text)
        for name in ("exercises", "solutions"):
            file = self.root / name / "e20_own/triple.py"
            file.write_text(file.read_text().replace("def double", "def triple"))
        self.kata("audit", "--write-starts", code=1)  # hints and the like are still to do

    def kata(self, *arguments, folder=None, code=0):
        """A verb in the course's folder: the lines that it printed."""
        done = subprocess.run(
            [sys.executable, "-m", "grader", *arguments],
            cwd=folder or self.root,
            env={**os.environ, "PYTHONPATH": str(self.torchkata.root)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return (done.stdout + done.stderr).splitlines()

    def hand_in(self, student, **texts):
        for place, text in texts.items():
            section = "e20_own" if place.endswith("triple") else "e01_tensors"
            file = self.root / "submissions" / student / section / f"{place}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def statuses(self, results, *students):
        records = {who: json.loads((self.root / results / f"{who}.json").read_text()) for who in students}
        return {s: {k: e["status"] for k, e in r["exercises"].items()} for s, r in records.items()}


TRIPLE = SOLUTION.replace("def double", "def triple")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    made = Course(tmp_path_factory.mktemp("course"))
    made.hand_in("ada", double=SOLUTION, triple=TRIPLE)
    made.hand_in("bob", double=STUB, triple=TRIPLE.replace("2.0", "3.0"))
    return made


BOTH = {
    "ada": {"double": "passed", "triple": "passed"},
    "bob": {"double": "todo", "triple": "failed"},
}


@pytest.mark.slow
def test_both_are_graded_in_one_run(course):
    course.kata("grade", "submissions", "--sandbox", "off", "--out", "open")
    assert course.statuses("open", *BOTH) == BOTH


@pytest.mark.slow
@pytest.mark.sandbox
def test_in_the_sandbox_too_where_an_answer_sees_no_suite_of_either(course, confines):
    seen = [
        HIDES.format(exercises=str(root / "exercises"), tests=str(root / "tests" / "hidden"))
        for root in (course.root, course.torchkata.root)
    ]
    course.hand_in("eve", double=SOLUTION + seen[0] + seen[1], triple=TRIPLE + seen[0] + seen[1])
    course.kata("grade", "submissions", "--out", "confined")
    assert course.statuses("confined", *BOTH) == BOTH
    assert course.statuses("confined", "eve") == {"eve": BOTH["ada"]}


@pytest.mark.slow
def test_without_fork_each_is_judged_under_its_own_folder(course):
    code = """
from grader.course.catalog import load
from grader.plugin.subprocess_run import Fresh
from grader.protocol.job import Job
for e in load().exercises:
    found = Fresh([e]).judge_one(Job(e, e.file("solutions").read_bytes(), 0))
    print(e.slug, *(check.outcome for check in found.checks.values()))
"""
    environment = {**os.environ, "PYTHONPATH": str(course.torchkata.root)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=course.root, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["double passed passed passed", "triple passed passed passed"]


@pytest.mark.slow
def test_the_audit_looks_at_what_is_the_courses_own(course):
    *problems, last = course.kata("audit", code=1)
    assert last.startswith("audit: 1 exercises")
    assert problems and not [line for line in problems if line.startswith(("double", "e01"))]
    assert course.kata("audit", "--only", "e01")[-1] == "audit: 1 exercises, no problems"


@pytest.mark.slow
def test_students_get_both_in_one_repository(course, tmp_path):
    course.kata("release", str(tmp_path / "students"))
    found = read(tmp_path / "students" / "exercises")
    assert [(s.name, s.title, [e.slug for e in s.exercises]) for s in found.sections] == [
        ("e01_tensors", "The tensor", ["double"]),
        ("e20_own", "Own", ["triple"]),
    ]
    files = {
        file.relative_to(tmp_path / "students").as_posix() for file in (tmp_path / "students").rglob("*.py")
    }
    assert {"grader/__main__.py", "tests/public/e20_own/test_triple.py", "conftest.py"} <= files
    assert not [name for name in files if name.startswith(("solutions", "tests/hidden"))]
    assert course.kata("release", "students", code=2)[0].endswith("release to a folder outside it")


@pytest.mark.slow
def test_what_an_upgrade_brings_stands_beside_it(tmp_path):
    course = Course(tmp_path)
    course.hand_in("ada", triple=TRIPLE)
    course.kata("grade", "submissions", "--only", "triple", "--sandbox", "off")
    before = (course.root / "results/ada.json").read_text()
    course.torchkata.add("twice")
    course.torchkata.add("triple", solution="no Python")  # the course's own is meant, as it was
    course.kata("grade", "submissions", "--only", "triple", "--sandbox", "off")
    assert (course.root / "results/ada.json").read_text() == before
    listed = "\n".join(course.kata("list"))
    assert "twice" in listed and listed.count("triple") == 1


def run_git(folder, *arguments):
    identity = ["-c", "user.name=kata", "-c", "user.email=kata@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.slow
def test_a_clone_with_exercises_of_its_own_merges_an_upstream_that_adds_some(tmp_path):
    upstream = Clone(tmp_path / "upstream")
    upstream.add("double")
    (upstream.root / ".gitignore").write_text("__pycache__/\n")
    upstream.commit()
    run_git(tmp_path, "clone", "-q", str(upstream.root), "fork")
    fork = Clone.__new__(Clone)
    fork.root = tmp_path / "fork"
    assert fork.kata("new", "e20_own", "triple")[0] == 0
    fork.commit("an exercise of our own")
    upstream.add("twice")
    upstream.commit("an exercise more")
    run_git(fork.root, "pull", "-q", "--no-rebase", "--no-edit", "origin", "HEAD")
    code, lines = fork.kata("list")
    assert (
        code == 0 and [name for name in ("double", "twice", "triple") if name not in "\n".join(lines)] == []
    )


def some(slug, section="e01_tensors", order=1, root=paths.ROOT, path="core"):
    return Exercise(slug, section, order, slug, "build", path, 2, 1, (), (), (), "", root=root)


def test_a_section_may_have_exercises_of_several_sources(tmp_path):
    mine = Catalog((Section("e01_tensors", "Mine", (some("more", order=3, root=tmp_path),)),))
    theirs = (some("dice", order=9, path="first"), some("one"), some("more", order=2), some("four", order=4))
    found = joined([mine, Catalog((Section("e01_tensors", "Tensors", theirs),))])
    (section,) = found.sections
    assert [e.slug for e in section.exercises] == ["dice", "one", "four", "more"]
    assert found.exercise("more").root == tmp_path


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "COURSE", tmp_path)
    monkeypatch.delenv(paths.VARIABLE, raising=False)
    sources.roots.cache_clear()

    def write(text):
        sources.roots.cache_clear()
        (tmp_path / paths.FILE).write_text(text)
        return tmp_path

    yield write
    sources.roots.cache_clear()


def test_the_courses_own_folder_comes_first(written, tmp_path):
    other = tmp_path / "other"
    (other / "exercises" / "e01_other").mkdir(parents=True)
    (other / "exercises" / "e01_other" / "section.toml").touch()
    assert sources.roots() == (paths.ROOT,)
    root = written('sources = ["torchkata", "other"]')
    assert sources.roots() == (root, paths.SOURCE, other)
    written("sources = []")
    assert sources.roots() == (root,)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('sources = "torchkata"', "list the sources"),
        ("sources = [3]", "list the sources"),
        ('sources = ["nowhere"]', r"nowhere'.*holds no exercises; name a folder"),
        ('sources = ["../../../etc"]', r"holds no exercises"),
        (f'sources = ["{"a" * 5000}"]', r"\.\.\..*holds no exercises"),
        ('sources = ["a\\u0000b"]', r"rename that folder"),
        ('sources = ["other:mine"]', r"rename that folder, without : in it"),
    ],
)
def test_what_is_no_source_is_one_line(written, text, told):
    written(text)
    with pytest.raises(KataError, match=told) as error:
        sources.roots()
    assert len(str(error.value)) < 400
