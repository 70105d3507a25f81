"""However an assignment lies in its folders, and however students hand it in, their own code counts."""

import pytest

from grader.core.errors import KataError
from tests.grader.classroom.suite.courses import grade, lay, messages, outcomes

pytestmark = pytest.mark.slow

TESTS = "from linalg import dot\n\n\ndef test_dot():\n    assert dot([1, 2], [3, 4]) == 11\n"
RIGHT = "from helper import times\n\n\ndef dot(a, b):\n    return sum(map(times, a, b))\n"
HELPER = "def times(a, b):\n    return a * b\n"
WRONG = "def dot(a, b):\n    return 0\n"
BESIDE = {"hw1/test_linalg.py": TESTS, "hw1/linalg.py": "def dot(a, b):\n    raise NotImplementedError\n"}
SOLVED = {"solution/linalg.py": RIGHT, "solution/helper.py": HELPER}


def test_tests_may_lie_beside_the_code(tmp_path):
    hand_ins = {
        "class/ada/linalg.py": RIGHT,
        "class/ada/helper.py": HELPER,
        "class/bob/linalg.py": WRONG,
        "class/cyn/hw1/linalg.py": RIGHT,
        "class/cyn/hw1/helper.py": HELPER,
        "class/cyn/hw1/test_linalg.py": "def test_dot():\n    pass\n",
        "class/dan/linalg (1).py": RIGHT.replace("helper", "numbers"),
        "class/eve/notes.txt": "",
    }
    lay(tmp_path, {**BESIDE, **SOLVED, **hand_ins})
    records, _ = grade(tmp_path, "hw1", ("hw1/linalg.py",), solution="solution")
    found = {name: (record.score, record.exercises["linalg"].status) for name, record in records.items()}
    assert found == {
        "ada": (1.0, "passed"),
        "bob": (0.0, "failed"),
        "cyn": (1.0, "passed"),
        "dan": (0.0, "broken"),
        "eve": (0.0, "not_graded"),
    }
    assert "read: linalg (1).py as linalg.py" in records["dan"].notes


def test_who_forgets_the_adapter_grades_nobody_by_the_teachers_own_file(tmp_path):
    lay(tmp_path, {**BESIDE, "hw1/linalg.py": RIGHT, "hw1/helper.py": HELPER, "class/ada/linalg.py": WRONG})
    lay(tmp_path, {"class/bob/linalg.py": WRONG})
    with pytest.raises(KataError, match=r"lies among the tests: name each file.*with --adapter"):
        grade(tmp_path, "hw1")
    lay(tmp_path, {"class/bob/other.py": ""})
    records, _ = grade(tmp_path, "hw1")
    assert records["ada"].exercises["linalg"].status == "not_graded"


def test_a_solution_that_passes_nothing_is_told_of(tmp_path):
    lay(tmp_path, {**BESIDE, "solution/linalg.py": WRONG, "class/ada/other.py": ""})
    with pytest.raises(KataError, match=r"no test would count: .*named by --adapter"):
        grade(tmp_path, "hw1", solution="solution")


def test_files_that_a_platform_hands_out_each_by_itself_are_read(tmp_path):
    hand_ins = {
        "class/lovelaceada_12345_678_linalg.py": WRONG,
        "class/lovelaceada_12345_680_linalg-1.py": RIGHT,
        "class/lovelaceada_12345_679_helper.py": HELPER,
        "class/noetheremmy_LATE_12346_681_my linalg.py": "",
        "class/hopper_12347_682_linalg_final.py": WRONG,
    }
    lay(tmp_path, {**BESIDE, **SOLVED, **hand_ins})
    records, _ = grade(tmp_path, "hw1", ("hw1/linalg.py",), solution="solution")
    statuses = {name: record.exercises["linalg"].status for name, record in records.items()}
    assert statuses == {
        "hopper_12347": "failed",
        "lovelaceada_12345": "passed",
        "noetheremmy_12346": "not_graded",
    }
    assert "read: linalg_final.py as linalg.py" in records["hopper_12347"].notes
    assert any("my linalg.py" in note for note in records["noetheremmy_12346"].notes)


PACKAGE = {
    "hw/tests/test_model.py": "from pathlib import Path\n\nfrom pkg.model import rows\n\n\n"
    "def test_rows():\n    assert rows(Path('data/rows.txt')) == 2\n",
    "hw/pkg/__init__.py": "",
    "hw/pkg/given.py": "def lines(path):\n    return path.read_text().splitlines()\n",
    "hw/pkg/model.py": "def rows(path):\n    raise NotImplementedError('count the rows')\n",
    "hw/data/rows.txt": "a\nb\n",
}
COUNTS = "from .given import lines\n\n\ndef rows(path):\n    return len(lines(path))\n"
HAND_INS = {
    "class/ada/pkg/model.py": COUNTS,
    "class/bob/pkg/model.py": COUNTS,
    "class/bob/pkg/given.py": "def lines(path):\n    return [1]\n",
    "class/cyn/pkg/given/x.py": "",
    "class/cyn/data": "",
    "class/dan/pkg/other.py": "",
    "class/eve/model.py": COUNTS,
    "class/fay/hw/pkg/model.py": COUNTS,
}


def test_what_was_handed_out_lies_under_what_is_handed_in(tmp_path):
    lay(tmp_path, {**PACKAGE, **HAND_INS, "solution/pkg/model.py": COUNTS})
    records, _ = grade(tmp_path, handout="hw", solution="solution")
    assert {name: record.exercises["model"].status for name, record in records.items()} == {
        "ada": "passed",
        "bob": "failed",
        "cyn": "todo",
        "dan": "todo",
        "eve": "passed",
        "fay": "passed",
    }
    assert messages(records["dan"])["test_rows"] == (
        "not written yet: count the rows\n  pkg/model.py:2   raise NotImplementedError('count the rows')"
    )


def test_of_several_adapters_the_one_that_is_not_handed_in_is_as_it_was_handed_out(tmp_path):
    one, other = (f"def {name}():\n    raise NotImplementedError\n" for name in ("one", "other"))
    tests = "from one import one\nfrom other import other\n\n\n"
    tests += "def test_one():\n    assert one()\n\n\ndef test_other():\n    assert other()\n"
    texts = {"hw/one.py": one, "hw/other.py": other, "hw/test_hw.py": tests}
    lay(tmp_path, {**texts, "class/ada/one.py": "def one():\n    return True\n"})
    records, _ = grade(tmp_path, "hw", ("hw/one.py", "hw/other.py"))
    assert outcomes(records["ada"]) == {"test_one": "passed", "test_other": "failed"}
    assert messages(records["ada"])["test_other"].startswith("not written yet\n  other.py:2")


def test_a_changed_handout_is_judged_anew(tmp_path):
    lay(tmp_path, {**PACKAGE, "class/ada/pkg/model.py": COUNTS, "solution/pkg/model.py": COUNTS})
    assert outcomes(grade(tmp_path, handout="hw")[0]["ada"]) == {"test_rows": "passed"}
    lay(tmp_path, {"hw/data/rows.txt": "a\n"})
    assert outcomes(grade(tmp_path, handout="hw")[0]["ada"]) == {"test_rows": "failed"}


@pytest.mark.parametrize(
    ("handout", "message"),
    [
        ("nowhere", "is no folder; name the repository as students get it"),
        ("hw/tests", "is the suite itself"),
        ("class", "is not in --handout"),
    ],
)
def test_mistakes_in_a_handout_are_told_in_a_line(tmp_path, handout, message):
    lay(tmp_path, {**PACKAGE, "class/ada/pkg/model.py": COUNTS})
    with pytest.raises(KataError, match=message):
        grade(tmp_path, handout=handout)


def test_results_of_another_suite_are_kept(tmp_path):
    lay(tmp_path, {f"course/{name}": text.replace("hw1", "") for name, text in BESIDE.items()})
    lay(tmp_path, {"course/hw2/tests/test_x.py": "def test_x():\n    pass\n", "class/ada/linalg.py": WRONG})
    grade(tmp_path, "course/hw1", ("course/hw1/linalg.py",))
    with pytest.raises(KataError, match=r"holds results of the suite in .*course/hw1; choose another folder"):
        grade(tmp_path, "course/hw2/tests")


def test_a_package_knows_its_version_and_pytest_the_conftest_at_the_top(tmp_path):
    package = "import importlib.metadata\n\n__version__ = importlib.metadata.version('my-pkg')\n"
    texts = {
        "hw/pyproject.toml": "[project]\nname = 'my-pkg'\nversion = '0.3'\n",
        "hw/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef v():\n    return '0.3'\n",
        "hw/src/my_pkg/__init__.py": package,
        "hw/tests/test_it.py": "import my_pkg\n\n\ndef test_it(v):\n    assert v == my_pkg.__version__\n",
        "class/ada/src/my_pkg/__init__.py": package,
        "class/bob/src/my_pkg/__init__.py": "__version__ = '1'\n",
        "class/bob/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef v():\n    return '1'\n",
    }
    records, _ = grade(lay(tmp_path, texts), handout="hw", solution="class/ada")
    statuses = {name: record.exercises["it"].status for name, record in records.items()}
    assert statuses == {"ada": "passed", "bob": "failed"}


def test_tests_beside_the_code_run_in_their_folder(tmp_path):
    tests = "from one import one\n\n\ndef test_one():\n    assert one() == open('poem.txt').read()\n"
    texts = {"hw/one.py": "", "hw/poem.txt": "ah", "hw/test_one.py": tests}
    texts |= {
        "hw/solution/one.py": "def one():\n    return 'ah'\n",
        "class/ada/one.py": "def one():\n    return 'ah'\n",
    }
    records, _ = grade(lay(tmp_path, texts), "hw", ("hw/one.py",), solution="hw/solution")
    assert outcomes(records["ada"]) == {"test_one": "passed"}


def test_who_was_judged_by_other_tests_is_told(tmp_path):
    lay(tmp_path, {**BESIDE, "class/ada/linalg.py": WRONG, "class/bob/linalg.py": WRONG})
    assert "as they were before" not in grade(tmp_path, "hw1", ("hw1/linalg.py",))[1]
    lay(tmp_path, {"hw1/test_linalg.py": TESTS.replace("11", "12")})
    _, said = grade(tmp_path, "hw1", ("hw1/linalg.py",), work="class/bob")
    assert "judged by the tests as they were before, hand them in again: ada" in said


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = "-q {}"\n'),
        ("pytest.ini", "[pytest]\naddopts = -q {}\n"),
    ],
)
def test_how_tests_are_found_is_the_suites_own_matter(tmp_path, file, text):
    tests = "import pytest\n\n\ndef test_one():\n    import a\n\n\n"
    tests += "@pytest.mark.nightly\ndef test_all():\n    assert 0\n"
    texts = {f"hw/tests/{part}/test_it.py": tests for part in ("unit", "whole")}  # of one name, in no package
    options = text.format("--import-mode=importlib -m 'not nightly' -x -n 4")
    lay(tmp_path, {**texts, f"hw/{file}": options, "class/ada/a.py": "", "solution/a.py": ""})
    records, _ = grade(tmp_path, solution="solution")
    assert {name: e.status for name, e in records["ada"].exercises.items()} == {
        "unit_it": "passed",
        "whole_it": "passed",
    }
    assert {*outcomes(records["ada"])} == {"test_one"}


def test_a_file_that_is_skipped_as_a_whole_is_told_and_costs_nobody(tmp_path):
    skipped = "import pytest\n\npytest.importorskip('no_such_kernels')\n\n\ndef test_x():\n    pass\n"
    lay(tmp_path, {**BESIDE, "hw1/test_gpu.py": skipped, "class/ada/linalg.py": WRONG})
    for _ in range(2):
        records, said = grade(tmp_path, "hw1", ("hw1/linalg.py",))
        assert [*records["ada"].exercises] == ["linalg"]
        assert (
            "graded for nobody, skipped: could not import 'no_such_kernels'" in said and "test_gpu.py" in said
        )
