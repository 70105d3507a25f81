"""The built wheel, alone in a new environment: tool and course, and a learner's first hour."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from grader.course import paths
from grader.course.catalog import load
from tests.grader.support.terminal import Terminal

SLUG = "merge_heads"
BUILT_FROM = ("grader", "exercises", "solutions", "tests/public", "tests/hidden", "tests/__init__.py")
FILES = ("setup.py", "pyproject.toml", "README.md", "LICENSE", "conftest.py", ".gitignore")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy, for setuptools leaves its work where it builds."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for name in (*BUILT_FROM, *FILES):
        one = paths.ROOT / name
        (source / name).parent.mkdir(exist_ok=True)
        shutil.copytree(one, source / name) if one.is_dir() else shutil.copy(one, source / name)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", out, source]
    subprocess.run(command, check=True)
    (file,) = out.iterdir()
    return file


@pytest.fixture(scope="module")
def programs(wheel, tmp_path_factory):
    """The folder of the programs of an environment with this wheel.

    It borrows what else it needs from ours by a `.pth` file: of a folder that is named there, Python reads no
    such files, so that the clone, which is installed by one, is not found.
    """
    folder = tmp_path_factory.mktemp("environment")
    site = install(wheel, folder)
    (site / "borrowed.pth").write_text("\n".join(map(str, OURS)))
    return folder / "bin"


OURS = [Path(path) for path in sys.path if Path(path).name == "site-packages"]


def install(wheel, folder):
    """Make an environment with this wheel there; the folder of its packages."""
    venv.create(folder, with_pip=False, symlinks=True)
    command = [sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install", "-q"]
    subprocess.run([*command, "--no-deps", "--no-index", wheel], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    return site


def run(folder, *command):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module", autouse=True)
def nothing_of_this_clone():
    with pytest.MonkeyPatch.context() as patches:
        for name in ("PYTHONPATH", paths.VARIABLE):
            patches.delenv(name, raising=False)
        yield


@pytest.fixture
def folder(programs, tmp_path_factory):
    """What `kata init` has written there."""
    place = tmp_path_factory.mktemp("home")
    code, said = run(place, programs / "torchkata", "init", "kata")
    assert (code, said.count("\n")) == (0, 3) and "next: cd kata && kata watch" in said
    return place / "kata"


def solve(folder):
    exercise = load().exercise(SLUG)
    shutil.copyfile(folder / "solutions" / exercise.relative, folder / "exercises" / exercise.relative)


@pytest.mark.slow
def test_it_is_the_wheel_that_runs(programs, folder):
    code, said = run(folder, programs / "python", "-c", "import grader; print(grader.__file__)")
    assert code == 0 and Path(said).is_relative_to(programs.parent)


@pytest.mark.slow
def test_a_learners_first_hour(programs, folder):
    kata, pytest_command = programs / "kata", (programs / "python", "-m", "pytest", "-q", "-p", "no:randomly")
    code, said = run(folder / "exercises", kata, "hint", SLUG)
    assert code == 0 and "1/" in said
    code, said = run(folder, *pytest_command, "-k", SLUG)
    assert code == 1 and f"kata hint {SLUG}" in said
    solve(folder)
    code, said = run(folder, *pytest_command, "-k", SLUG)
    assert code == 0, said
    code, said = run(folder / "tests", kata)
    exercises = [e for e in load().sections[0].exercises if not e.is_step]
    assert code == 0 and f"1/{len(exercises)}" in said
    code, said = run(folder, kata, "solution", SLUG)
    assert code == 0 and "line for line" in said
    code, said = run(folder, kata, "reset", "--yes", SLUG)  # without git
    assert code == 0 and "back at its start" in said
    assert "1 " not in run(folder, kata)[1].splitlines()[0]


@pytest.mark.slow
def test_a_saved_file_is_judged(programs, folder):
    terminal = Terminal(folder, (programs / "kata", "watch"))
    try:
        terminal.expect("press 1, 2 or 3")
        terminal.press("2")
        terminal.expect("[q]uit")
        solve(folder)
        terminal.expect(f"✓ {SLUG}")
    finally:
        terminal.close()


@pytest.mark.slow
def test_answers_are_graded(programs, folder, tmp_path):
    exercise = load().exercise(SLUG)
    for student, text in (("ada", (folder / "solutions" / exercise.relative).read_bytes()), ("bob", b"")):
        file = tmp_path / "class" / student / exercise.relative
        file.parent.mkdir(parents=True)
        file.write_bytes(text)
    command = ("grade", tmp_path / "class", "--out", tmp_path / "out", "--only", SLUG, "--sandbox", "off")
    code, said = run(folder, programs / "kata", *command)
    assert code == 0, said
    assert [line.split()[:2] for line in said.splitlines()[1:3]] == [["ada", "2"], ["bob", "0"]]


@pytest.mark.slow
def test_a_course_of_its_exercises_and_its_own(programs, tmp_path):
    mine, exercise = tmp_path / "mine", load().exercise(SLUG)
    own = Path("e20_own") / "shares.py"
    assert run(tmp_path, programs / "kata", "init", "--course", mine)[0] == 0
    for new in (("shares",), ("tools", "--kind", "project")):
        code, said = run(mine, programs / "kata", "new", "e20_own", *new)
        assert code == 0, said
    with (mine / "course.toml").open("a") as file:
        file.write(f'[assignment.week1]\nexercises = ["{SLUG}", "shares", "tools"]\npoints = 7\n')
    solutions = {exercise.relative: exercise.file("solutions"), own: mine / "solutions" / own}
    project = Path("e20_own") / "tools"
    shutil.copytree(mine / "solutions" / project, mine / "submissions" / "ada" / project)
    for name, solution in solutions.items():
        answer = mine / "submissions" / "ada" / name
        answer.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(solution, answer)
    command = ("grade", "submissions", "--assignment", "week1", "--sandbox", "off")
    code, said = run(mine, programs / "kata", *command)
    assert code == 0, said
    assert said.splitlines()[1].split()[:3] == ["ada", "7", "7"]
    students = tmp_path / "students"
    code, said = run(mine, programs / "kata", "release", students, "--assignment", "week1")
    assert code == 0 and "3 exercises" in said, said
    assert "pip install torchkata" in (students / "README.md").read_text()
    code, said = run(students, programs / "python", "-m", "pytest", "-q", "-p", "no:randomly")
    assert code == 0 and "e20_own " in said and "e01_tensors " in said, said
    assert not [*students.rglob("hidden"), *students.rglob("solutions"), *students.glob("Makefile")]


@pytest.mark.slow
def test_outside_of_a_course(programs, tmp_path):
    code, said = run(tmp_path, programs / "kata")
    assert (code, said.count("\n")) == (2, 1) and "no course here" in said
    place = load().exercise(SLUG).file("public")
    code, said = run(tmp_path, programs / "python", "-m", "pytest", "-q", place)
    assert code != 0 and "no course here" in said and "Traceback" not in said


LOOKS = """
from pathlib import Path

import grader

found = sorted(p.name for p in Path(grader.__file__).parent.rglob("*{slug}*") if p.is_file())
raise RuntimeError(f"{{len(found)}} files: {{found}}")
"""


@pytest.mark.slow
@pytest.mark.usefixtures("confines")
def test_answers_see_nothing_of_the_solutions_in_it(wheel, folder, tmp_path):
    """Neither those to exercises nor those to a suite of somebody's own."""
    site = install(wheel, tmp_path / "environment")
    not_ours = shutil.ignore_patterns("*torchkata*", "pip*")
    for place in OURS:  # in the sandbox, nothing that is borrowed can be seen
        shutil.copytree(place, site, copy_function=link, ignore=not_ours, dirs_exist_ok=True)
    exercise, work, tests = load().exercise(SLUG), tmp_path / "class", tmp_path / "hw" / "tests"
    answers = (work / "ada" / exercise.relative, tmp_path / "others" / "ada" / "tests" / "adapters.py")
    files = dict.fromkeys(answers, LOOKS.format(slug=SLUG))
    files |= {tests / "adapters.py": "", tests / "test_it.py": "import adapters\n\n\ndef test_it(): ...\n"}
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    suite = ("--suite", tests, "--adapter", tests / "adapters.py")
    for submissions, options in ((work, ("--only", SLUG)), (tmp_path / "others", suite)):
        out = tmp_path / f"results of {submissions.name}"
        command = ("grade", submissions, "--out", out, *options)
        code, said = run(folder, tmp_path / "environment" / "bin" / "kata", *command)
        assert code == 0, said
        assert "0 files" in (out / "ada.json").read_text()


def link(source, target):
    try:
        os.link(source, target)
    except OSError:  # on another disk
        shutil.copy2(source, target)
