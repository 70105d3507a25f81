"""What tests are worth: what the settings say, the narrowest first; the rest of a whole is shared evenly."""

import pytest

from grader.classroom.suite import inventory
from grader.classroom.suite.points import priced
from grader.classroom.suite.settings import read
from grader.classroom.suite.suite import Suite
from grader.core.errors import KataError
from grader.protocol.check import CheckSpec

TESTS = {
    "tests/test_model.py": ["test_linear", "test_heads[2]", "test_heads[4]", "TestShape::test_a"],
    "tests/deep/test_text.py": ["test_split"],
}


def worth(tmp_path, text, lacks=""):
    (tmp_path / "suite.toml").write_text(text)
    suite = Suite(tmp_path, "tests", {}, (), {}, "pytest.ini", read(tmp_path / "suite.toml"))
    checks = {
        path: [CheckSpec(id, id, "not here" if id == lacks else None) for id in ids]
        for path, ids in TESTS.items()
    }
    return priced(inventory.listed("hw", "", "", checks), suite)


def points(tmp_path, text):
    return [[*file.points.values()] for file in worth(tmp_path, text).files]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [[1, 1, 1, 1], [1]]),
        ('[points]\n"test_model.py" = 10', [[2.5, 2.5, 2.5, 2.5], [1]]),
        ('[points]\n"test_model.py" = 10\n"test_model.py::test_linear" = 4', [[4, 2, 2, 2], [1]]),
        ('[points]\n"test_model.py::test_heads" = 3', [[1, 1.5, 1.5, 1], [1]]),
        ('[points]\n"test_model.py::test_heads[4]" = 0', [[1, 1, 0, 1], [1]]),
        ('[points]\n"test_model.py::TestShape" = 7\n"deep/test_text.py" = 2', [[1, 1, 1, 7], [2]]),
        (
            '[points]\n"test_model.py" = 9\n"test_model.py::test_heads" = 3\n'
            '"test_model.py::test_heads[2]" = 2',
            [[3, 2, 1, 3], [1]],
        ),
    ],
)
def test_points(tmp_path, text, expected):
    assert points(tmp_path, text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[points]\n"test_modle.py" = 10',
            r"no test is called 'test_modle.py' \(did you mean 'test_model.py'",
        ),
        ('[points]\n"test_model.py" = 3\n"test_model.py::test_linear" = 4', "has 3 points, and its parts"),
        (
            '[points]\n"deep/test_text.py" = 3\n"deep/test_text.py::test_split" = 2',
            "has 3 points, and its parts",
        ),
        ('[points]\n"test_model.py" = -1', "say 0 to"),
        ("[points]\ntest_model.py = 3", "put quotes around the whole name of a test"),
        ("points = 3", r"write a table \[points\]"),
        ("title = 3", "title is 3; write a text"),
        ("seconds = 0", "say up to 600 for a test"),
        ("second = 3", r"nothing is called 'second' \(did you mean 'seconds'"),
        ("seconds = ", "mend it or take it away"),
    ],
)
def test_mistakes_are_told_in_a_line(tmp_path, text, message):
    with pytest.raises(KataError, match=message) as told:
        points(tmp_path, text)
    assert "suite.toml" in str(told.value) and "\n" not in str(told.value)


def test_what_nobody_is_graded_on_leaves_its_share_to_the_others(tmp_path):
    file, _ = worth(tmp_path, '[points]\n"test_model.py" = 8', lacks="test_linear").files
    assert file.worth == 8 and file.points["test_linear"] == 0
    file, _ = worth(tmp_path, "", lacks="test_linear").files
    assert file.worth == 3


def test_a_title_is_that_of_the_section(tmp_path):
    (section,) = worth(tmp_path, 'title = "Attention"').catalog.sections
    assert (section.name, section.title) == ("hw", "Attention")


def test_files_of_one_name_are_told_apart():
    tests = inventory.listed(
        "hw", "", "", dict.fromkeys(["tests/test_a.py", "tests/x/test_b.py", "tests/y/test_b.py"], ())
    )
    assert [file.slug for file in tests.files] == ["a", "x_b", "y_b"]
