"""What of a folder is a program: what lies around it, what is left out, what is too much."""

import subprocess

import pytest

from grader.authoring.bring import repository
from grader.core.errors import KataError
from grader.course import project
from tests.grader.support.brought import PROGRAM
from tests.grader.support.brought import repository as lay
from tests.grader.support.project import write


@pytest.fixture
def folder(tmp_path):
    return lay(tmp_path / "sums")


@pytest.fixture
def read(folder):
    return lambda: repository.read(folder, folder / "patches")


def test_the_program_and_what_lies_around(folder, read):
    write(folder, {"config.json": "{}", "data/a.txt": "1\r\n", "__pycache__/x.pyc": "", "venv/x.py": ""})
    write(
        folder, {"tests/test_a.py": "a = 1\n", "test_b.py": "b = 1\n", "tests/a.txt": "", "conftest.py": ""}
    )
    (folder / "linked.py").symlink_to(folder / "main.py")
    found = read()
    assert found.name == "sums"
    assert sorted(found.program) == sorted({*PROGRAM, "parts/__init__.py", "config.json"})
    assert [*found.pages] == ["README.md"]
    assert dict(found.data) == {"data/a.txt": b"1\n"}
    assert dict(found.tests) == {"test_b.py": "b = 1\n", "tests/test_a.py": "a = 1\n"}


def test_where_git_is_what_it_tracks(folder, read):
    write(folder, {"notes.py": "mine = 1\n"})
    for words in (["init", "-q"], ["add", "data.py", "README.md", "main.py"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    (folder / "main.py").unlink()
    assert [*read().program] == ["data.py"]


def test_patches_may_lie_among_the_files(folder):
    write(folder, {"one.diff": ""})
    assert "one.diff" not in repository.read(folder, folder).program


def test_what_is_large_is_left_out_and_told(folder, read):
    write(folder, {"model.pt": "x" * (project.MOST_BYTES + 1)})
    assert read().left_out == ("model.pt (larger than 1 MiB)",)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"data/loader.py": ""}, "data/loader.py: data holds what learners only read"),
        ({f"f{n}.txt": "" for n in range(200)}, "holds more than 200 files"),
        ({f"data/{n}.txt": "x" * (1 << 20) for n in range(17)}, "holds more than 16 MiB"),
    ],
)
def test_what_is_too_much_is_told(folder, read, files, words):
    write(folder, files)
    with pytest.raises(KataError, match=words):
        read()


def test_what_is_no_text(folder, read):
    (folder / "main.py").write_bytes(b"name = '\xe4'\n")
    with pytest.raises(KataError, match=r"main.py is no UTF-8"):
        read()


def test_no_program(tmp_path):
    with pytest.raises(KataError, match="there is no such folder; name that of your repository"):
        repository.read(tmp_path / "none", tmp_path)
    with pytest.raises(KataError, match="holds no Python file"):
        repository.read(tmp_path, tmp_path / "patches")
