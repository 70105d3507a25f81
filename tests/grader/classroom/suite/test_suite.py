"""A suite is read as its instructor has it, with pytest's settings as pytest finds them."""

import pytest

from grader.classroom.suite import texts
from grader.classroom.suite.suite import read
from grader.core.errors import KataError


@pytest.fixture
def home(tmp_path):
    tests = tmp_path / "hw1" / "tests"
    (tests / "data").mkdir(parents=True)
    (tests / "test_x.py").write_text("def test_x(): pass\n")
    (tests / "adapters.py").write_text("")
    (tests / "data/corpus.txt").write_text("a b")
    (tests / "__pycache__").mkdir()
    (tests / "__pycache__/x.pyc").write_text("")
    return tests.parent


def suite(home):
    return read(home / "tests", [home / "tests/adapters.py"])


def test_all_of_the_folder_is_the_instructors_but_the_adapters(home):
    found = suite(home)
    assert {*found.files} == {"tests/test_x.py", "tests/data/corpus.txt", "pytest.ini"}
    assert (found.name, found.place, found.adapters) == ("hw1", "tests", ("tests/adapters.py",))
    assert {*found.stubs} == {"tests/adapters.py"}


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject.toml", "[tool.pytest.ini_options]\nmarkers = ['slow']\n"),
        ("tests/pytest.ini", "[pytest]\n"),
        ("setup.cfg", "[tool:pytest]\n"),
    ],
)
def test_settings_of_pytest_are_carried_along(home, file, text):
    (home / "tox.ini").write_text("[flake8]\n")
    (home / file).write_text(text)
    found = suite(home)
    assert found.config == file and found.files[file] == text.encode()


def test_what_students_hand_in_counts_outside_the_suite_alone(home):
    found = suite(home)
    theirs = ["pkg/model.py", "tests/adapters.py", "tests/beside.py", "tests_of_mine/test_x.py"]
    ours = [
        "tests/test_x.py",
        "tests/conftest.py",
        "tests/sub/conftest.py",
        "tests/sub/below.py",
        "pytest.ini",
        "pytest.ini/x",
        "tests",
    ]
    assert [*found.own(dict.fromkeys(theirs + ours, b""))] == theirs


def test_a_file_where_the_suite_has_a_folder_does_not_count(tmp_path):
    """Neither could be laid out, and that would be told as a fault of the grader."""
    for file in ("pytest.ini", "test_x.py", "data/corpus.txt"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("[pytest]\n" if file == "pytest.ini" else "")
    assert [*read(tmp_path, []).own({"data": b"", "model.py": b""})] == ["model.py"]


def test_a_changed_file_changes_the_digest_of_all_but_itself(home):
    before = suite(home)
    (home / "tests/test_x.py").write_text("def test_x(): assert 0\n")
    after = suite(home)
    assert before.digest() != after.digest()
    assert before.digest(["tests/test_x.py"]) == after.digest(["tests/test_x.py"])


@pytest.mark.parametrize(
    "file", ["tests/conftest.py", "tests/test_x.py", "tests/pytest.ini", "pyproject.toml"]
)
def test_another_encoding_is_told_by_the_file(home, file):
    text = "NAME = 'café'\n" if file.endswith(".py") else "[tool.pytest]\n[pytest]\n# café\n"
    (home / file).write_text(text, "cp1252")
    (home / "tests/data/words.py").write_text("NAME = 'café'\n", "cp1252")  # which nobody need import
    told = rf"^{file} is not UTF-8, but perhaps cp1252 \(Windows\); save it as UTF-8 text$"
    with pytest.raises(KataError, match=told):
        texts.expect(suite(home))
    (home / file).write_text(text, "utf-8")
    texts.expect(suite(home))


@pytest.mark.parametrize(
    ("place", "adapter", "message"),
    [
        ("nowhere", "tests/adapters.py", "is no folder"),
        ("tests/data", "tests/data/corpus.txt", "holds no tests"),
        ("tests", "../elsewhere.py", "lies outside the repository"),
        ("tests", "tests/adapter.py", "is no file; name it as students get it"),
    ],
)
def test_mistakes_are_told_in_a_line(home, place, adapter, message):
    with pytest.raises(KataError, match=message):
        read(home / place, [home / adapter])
