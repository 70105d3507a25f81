"""A suite is read as its instructor has it, with pytest's settings as pytest finds them."""

import pytest

from grader.core.errors import KataError
from grader.suite.suite import read


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


def test_a_changed_file_changes_the_digest_of_all_but_itself(home):
    before = suite(home)
    (home / "tests/test_x.py").write_text("def test_x(): assert 0\n")
    after = suite(home)
    assert before.digest() != after.digest()
    assert before.digest(["tests/test_x.py"]) == after.digest(["tests/test_x.py"])


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
