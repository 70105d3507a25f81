"""`kata update`: an older clone or folder with solved files gets a new version, and no answer is lost."""

import os
import subprocess

import pytest

from grader.core.errors import KataError
from grader.course.exercise import digest
from grader.publish.update import folder, repository
from grader.publish.update.merged import lacks, under

SLUGS = [f"exercise_{letter}{digit}" for letter in "abcdef" for digit in range(7)]


def start(slug, statement="Double it.", parameters="x"):
    head = f'"""{statement}"""\n\n\ndef {slug}({parameters}):\n'
    return head + '    """Twice x."""\n    raise NotImplementedError\n'


def answer(slug, statement="Double it.", note=""):
    return start(slug, statement).replace("raise NotImplementedError", f"return 2 * x  # {slug}{note}")


class Course:
    """A version of a small course: slugs in their order, with their starts."""

    def __init__(self, slugs=SLUGS, name="ex{:02d}_{}", files=None, **starts):
        self.starts = {slug: starts.get(slug, start(slug)) for slug in slugs}
        self.names = {slug: name.format(n, slug) for n, slug in enumerate(slugs, start=1)}
        self.files = {"README.md": "A course.\n", ".gitignore": ".kata/\n", **(files or {})}

    def place(self, slug):
        return f"exercises/e01_tensors/{self.names[slug]}.py"

    def write(self, root):
        rows = [f'[exercise.{s}]\nstart = "{digest(text.encode())}"\n' for s, text in self.starts.items()]
        texts = {
            "exercises/e01_tensors/section.toml": 'title = "Tensors"\n\n' + "\n".join(rows),
            **self.files,
        }
        for slug, text in self.starts.items():
            texts[self.place(slug)] = text
            texts[f"tests/public/e01_tensors/test_{self.names[slug]}.py"] = f"# {text.splitlines()[0]}\n"
            texts[f"solutions/e01_tensors/{self.names[slug]}.py"] = "# solution\n"
        for path, text in texts.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return root


def git(root, *words):
    identity = {
        f"GIT_{who}_{what}": "kata@example.org"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    environment = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def commit(root, message="a version"):
    git(root, "add", "-A")
    git(root, "commit", "-qm", message)


OLD = Course()
MOVED, CHANGED, CLASH, GONE, UNTOUCHED = SLUGS[1], SLUGS[2], SLUGS[3], SLUGS[4], SLUGS[-1]
NEW = Course(
    ["first_of_all", *(slug for slug in SLUGS if slug != GONE)],
    files={"README.md": "A better course.\n", "docs/new.md": "New.\n"},
    **{
        CHANGED: start(CHANGED, "Double every number of x."),
        CLASH: start(CLASH, "Double it, or more.", "x, times"),
        UNTOUCHED: start(UNTOUCHED, "Twice, please."),
    },
)
"""Four files have another number, three starts have changed, one exercise is new, and one has gone."""


def solve(root, course=OLD, slugs=SLUGS[:40], note=""):
    for slug in slugs:
        (root / course.place(slug)).write_text(answer(slug, note=note))


def expect_updated(root, report, note=""):
    """All that is to come of an update from OLD, with forty files solved, to NEW."""
    for slug in SLUGS[:40]:
        if slug == GONE:
            continue
        statement = {CHANGED: "Double every number of x.", CLASH: "Double it, or more."}.get(
            slug, "Double it."
        )
        assert (root / NEW.place(slug)).read_text() == answer(slug, statement, note), slug
    assert (root / NEW.place(UNTOUCHED)).read_text() == NEW.starts[UNTOUCHED]
    assert (root / NEW.place("first_of_all")).exists()
    beside = root / f"{NEW.place(CLASH)}.new"
    assert beside.read_text() == NEW.starts[CLASH]
    kept = root / ".kata" / "backups" / report.backup.folder.name
    assert (kept / OLD.place(GONE)).read_text() == answer(GONE, note=note)
    files = {file.name for file in (root / "exercises" / "e01_tensors").iterdir()}
    assert files == {f"{name}.py" for name in NEW.names.values()} | {beside.name, "section.toml"}
    assert (root / "docs" / "new.md").exists() and (root / "README.md").read_text() == "A better course.\n"
    told = "\n".join(report.lines())
    assert "1 new exercise, 3 with a new statement or start" in told
    assert (
        "39 answers of yours stayed, 2 of them under a new statement, 4 in a file with another name" in told
    )
    assert f"{CLASH}: the new start has what yours lacks ({CLASH}(x, times))" in told and beside.name in told
    assert f"{GONE} is no part of the course any more; your answer is in" in told


@pytest.fixture
def upstream(tmp_path):
    """Where clones are from, at the old version."""
    root = OLD.write(tmp_path / "upstream")
    git(tmp_path, "init", "-q", "-b", "main", str(root))
    commit(root)
    return root


@pytest.fixture
def clone(upstream, tmp_path):
    git(tmp_path, "clone", "-q", str(upstream), str(tmp_path / "clone"))
    return tmp_path / "clone"


def renew(upstream, course=NEW):
    """Upstream goes on to another version."""
    git(upstream, "rm", "-rq", ".")
    course.write(upstream)
    commit(upstream, "a new version")


def test_a_clone_with_forty_solved_files(upstream, clone):
    solve(clone)
    saved = 1_700_000_000
    os.utime(clone / OLD.place(MOVED), (saved, saved))
    (clone / "exercises" / "e01_tensors" / "notes.txt").write_text("mine")
    renew(upstream)
    report = repository.update(clone)
    (clone / "exercises" / "e01_tensors" / "notes.txt").unlink()
    expect_updated(clone, report)
    assert git(clone, "rev-parse", "HEAD") == git(upstream, "rev-parse", "HEAD")
    status = git(clone, "status", "--porcelain").splitlines()
    assert {line[:2] for line in status} == {" M", "??"} and len(status) == 40
    assert (clone / NEW.place(MOVED)).stat().st_mtime == saved
    again = repository.update(clone)
    assert not again.is_new and list(again.lines()) == ["origin/main holds nothing new"]


def test_answers_that_were_committed_are_merged(upstream, clone):
    solve(clone, note=" committed")
    commit(clone, "my answers")
    solve(clone, slugs=[MOVED], note=" and changed since")
    renew(upstream)
    report = repository.update(clone)
    assert (clone / NEW.place(MOVED)).read_text() == answer(MOVED, note=" and changed since")
    solve(clone, NEW, [MOVED], note=" committed")
    expect_updated(clone, report, note=" committed")
    assert git(clone, "status", "--porcelain").split() == ["??", f"{NEW.place(CLASH)}.new"]
    parents = git(clone, "log", "-1", "--format=%P").split()
    assert parents[1] == git(upstream, "rev-parse", "HEAD").strip()
    assert git(clone, "log", "-1", "--format=%s", parents[0]).strip() == "my answers"


def test_other_files_stay_unless_the_course_changes_them_too(upstream, clone):
    for path in (".gitignore", "README.md", "docs/new.md", "mine.txt"):
        (clone / path).parent.mkdir(exist_ok=True)
        (clone / path).write_text(".kata/\nmine\n")
    git(clone, "add", "mine.txt")
    renew(upstream)
    report = repository.update(clone)
    assert (clone / ".gitignore").read_text() == (clone / "mine.txt").read_text() == ".kata/\nmine\n"
    assert (clone / "README.md").read_text() == "A better course.\n"
    assert report.replaced == ["README.md", "docs/new.md"]
    for path in report.replaced:
        assert (report.backup.folder / path).read_text() == ".kata/\nmine\n"
        assert any(line.startswith(f"{path} is the course's again; yours is in") for line in report.lines())


def test_what_git_refuses_leaves_everything_as_it_was(upstream, clone, monkeypatch):
    solve(clone)
    renew(upstream)
    run = repository.Git.run

    def refuses(self, *arguments, **options):
        if arguments[0] == "merge":
            raise KataError("git merge: no space left")
        return run(self, *arguments, **options)

    monkeypatch.setattr(repository.Git, "run", refuses)
    with pytest.raises(KataError, match="no space left"):
        repository.update(clone)
    assert all((clone / OLD.place(slug)).read_text() == answer(slug) for slug in SLUGS[:40])
    monkeypatch.undo()
    expect_updated(clone, repository.update(clone))


def test_a_fork_follows_upstream(upstream, clone, tmp_path):
    git(clone, "remote", "rename", "origin", "fork")
    git(clone, "remote", "add", "upstream", str(upstream))
    solve(clone)
    renew(upstream)
    report = repository.update(clone)
    assert report.source == "upstream/main"
    expect_updated(clone, report)


@pytest.mark.parametrize("state", ["merging", "no remote", "no network", "another history"])
def test_what_cannot_be_updated_is_told_in_a_line(upstream, clone, state):
    solve(clone)
    renew(upstream)
    if state == "merging":
        (clone / ".git" / "MERGE_HEAD").write_text("")
    elif state == "no remote":
        git(clone, "remote", "remove", "origin")
        assert not repository.is_clone(clone)
        return
    elif state == "no network":
        git(clone, "remote", "set-url", "origin", str(clone / "nowhere"))
    else:
        git(upstream, "checkout", "-q", "--orphan", "other")
        commit(upstream)
        git(upstream, "branch", "-M", "main")
    with pytest.raises(KataError) as told:
        repository.update(clone)
    assert "\n" not in str(told.value)
    assert all((clone / OLD.place(slug)).read_text() == answer(slug) for slug in SLUGS[:40])


def test_a_folder_without_git(tmp_path):
    mine, release = OLD.write(tmp_path / "mine"), NEW.write(tmp_path / "release")
    solve(mine)
    report = folder.update(mine, release, "release")
    expect_updated(mine, report)
    checks = {file.name for file in (mine / "tests" / "public" / "e01_tensors").iterdir()}
    assert checks == {f"test_{name}.py" for name in NEW.names.values()}
    assert {file.name for file in (mine / "solutions" / "e01_tensors").iterdir()} == {
        f"{name}.py" for name in NEW.names.values()
    }
    assert not folder.update(mine, release, "release").is_new


PROJECT = {
    "__init__.py": '"""{}"""\n\nfrom .model import double\n',
    "model.py": "def double(x):\n    raise NotImplementedError\n",
    "data/numbers.txt": "{}\n",
}


def project(root, number, statement):
    """A course of one project."""
    files = {name: text.format(statement) for name, text in PROJECT.items()}
    place = f"exercises/e01_tensors/ex{number:02d}_lm"
    plain = b"\n".join(
        part for name in ("__init__.py", "model.py") for part in (name.encode(), files[name].strip().encode())
    )
    row = f'[exercise.lm]\nkind = "project"\nstart = "{digest(plain)}"\n'
    texts = {f"{place}/{name}": text for name, text in files.items()}
    return Course([], files={"exercises/e01_tensors/section.toml": row, **texts}).write(root)


def test_a_project_gets_its_new_statement_and_data(tmp_path):
    mine, release = project(tmp_path / "mine", 1, "Old."), project(tmp_path / "release", 2, "New.")
    lay, lies = (
        root / "exercises" / "e01_tensors" / name for root, name in ((mine, "ex01_lm"), (mine, "ex02_lm"))
    )
    (lay / "model.py").write_text("def double(x):\n    return 2 * x\n")
    (lay / "helper.py").write_text("more = 1\n")
    report = folder.update(mine, release, "release")
    held = {file.relative_to(lies).as_posix(): file.read_text() for file in lies.rglob("*.*")}
    assert held == {
        "__init__.py": PROJECT["__init__.py"].format("New."),
        "model.py": "def double(x):\n    return 2 * x\n",
        "helper.py": "more = 1\n",
        "data/numbers.txt": "New.\n",
    }
    assert not lay.exists()
    assert "1 answer of yours stayed, 1 of them under a new statement, 1 in a file" in "\n".join(
        report.lines()
    )


def test_files_may_be_called_otherwise_altogether(tmp_path):
    """Of a version whose files have no numbers."""
    mine = OLD.write(tmp_path / "mine")
    bare = Course(name="{1}")
    solve(mine)
    report = folder.update(mine, bare.write(tmp_path / "release"), "release")
    assert all((mine / bare.place(slug)).read_text() == answer(slug) for slug in SLUGS[:40])
    assert not (mine / OLD.place(SLUGS[0])).exists()
    assert "40 answers of yours stayed, 40 in a file with another name" in "\n".join(report.lines())


def test_a_release_of_another_week_leaves_what_was_released_before(tmp_path):
    mine, release = OLD.write(tmp_path / "mine"), tmp_path / "release"
    solve(mine)
    Course(["later"]).write(release)
    (release / "exercises" / "e01_tensors").rename(release / "exercises" / "e02_autograd")
    folder.update(mine, release, "release")
    assert all((mine / OLD.place(slug)).read_text() == answer(slug) for slug in SLUGS[:40])
    assert (mine / "exercises" / "e02_autograd" / "ex01_later.py").exists()


def test_a_folder_that_is_in_use_is_refused(tmp_path):
    mine, other = OLD.write(tmp_path / "mine"), NEW.write(tmp_path / "other")
    solve(other, NEW, [MOVED])
    for course, words in ((other, "is in use"), (tmp_path, "holds no exercises")):
        with pytest.raises(KataError, match=words):
            folder.update(mine, course, "there")


NEW_START = (
    '"""New.\n\nMore."""\n\nimport torch\n\n\nclass A:\n    def f(self, x, y=1): ...\n\n\ndef g(*x, k): ...\n'
)


@pytest.mark.parametrize(
    ("mine", "merged"),
    [
        ('"""Old."""\nx = 1\n', '"""New.\n\nMore."""\nx = 1\n'),
        (
            "# a note\n\nr'''Old\n\"'''  # more\ndef f(:\n",
            '# a note\n\n"""New.\n\nMore."""  # more\ndef f(:\n',
        ),
        ("x = 1\n", '"""New.\n\nMore."""\n\nx = 1\n'),
        ("", '"""New.\n\nMore."""\n\n'),
        ('"""Old."""\r\nx = "a\x0cb"\r\n', '"""New.\r\n\r\nMore."""\r\nx = "a\x0cb"\r\n'),
        ("'''open\n", '"""New.\n\nMore."""\n\n\'\'\'open\n'),
    ],
)
def test_the_docstring_is_the_courses_and_the_code_theirs(mine, merged):
    assert under(NEW_START, mine) == merged


@pytest.mark.parametrize(
    ("mine", "told"),
    [
        (NEW_START, []),
        ("class A:\n    def f(self, y, x): ...\ndef g(a, *, j): ...", ["g(k)"]),
        ("class A:\n    def f(self, x): ...\ndef g(**k): ...", ["A.f(x, y)"]),
        ("def g(k, x): ...", ["A"]),
        ("def g(:", []),
    ],
)
def test_what_a_new_start_has_and_an_answer_lacks(mine, told):
    assert lacks(mine, NEW_START) == told
