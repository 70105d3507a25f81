"""`kata capstone --bring`: what it makes works as a capstone; where something is amiss, nothing stays."""

import pytest

from tests.grader.support.brought import BUGS, PROGRAM, patch, repository
from tests.grader.support.clone import Clone
from tests.grader.support.project import write

pytest.importorskip("unidiff", reason="unidiff is an optional extra: torchkata[class]")

pytestmark = pytest.mark.slow

TEST = 'from parts.sums import total\n\n\ndef test_twice():\n    assert total(4) < 9, "a sum is too large"\n'
SECTION = "e21_programs"


@pytest.fixture
def clone(tmp_path):
    clone = Clone(tmp_path / "clone")
    clone.add("double")
    return clone


@pytest.fixture
def bring(clone, tmp_path):
    folder = repository(tmp_path / "Sums-of-mine")
    return lambda *more, name="sums": clone.kata(
        "capstone", "--bring", str(folder), "--section", SECTION, "--name", name, *more
    )


def everything(clone):
    return {
        str(file): file.read_bytes()
        for file in clone.root.rglob("*")
        if file.is_file() and ".pyc" not in file.name
    }


def test_it_makes_a_capstone(clone, bring, tmp_path):
    write(tmp_path / "Sums-of-mine", {"tests/test_all.py": TEST, "data/numbers.txt": "1"})
    code, lines = bring()
    assert code == 0, lines
    assert "test_twice: taken over from your tests" in lines
    assert lines[-1].startswith("next: kata audit --only sums ")
    start = clone.root / "exercises" / SECTION / "sums"
    assert "python -m sums.main" in (start / "README.md").read_text()
    assert "python -m sums.main" in (start / "__init__.py").read_text()
    assert (start / "data" / "numbers.txt").read_text() == "1"
    solution = clone.root / "solutions" / SECTION / "sums"
    assert (solution / "parts/sums.py").read_text() == PROGRAM["parts/sums.py"].replace(
        "from data", "from ..data"
    )
    assert not (solution / "data").exists()
    hidden = (clone.root / "tests/hidden" / SECTION / "test_sums.py").read_text()
    assert 'expect_that(bool(answer.parts.sums.total(4) < 9), "a sum is too large")' in hidden
    specimens = (clone.root / "tests/specimens" / SECTION / "sums.txt").read_text()
    assert 'bug twice test_twice "a sum is too large": TODO: what is wrong' in specimens
    assert "\n@ parts/sums.py\n- return found\n" in specimens
    code, lines = clone.kata("capstone", "--list")
    assert code == 0 and lines == [f"sums: {len(BUGS)} bugs; variant 0 lies here; done: none"]


def test_the_audit_lists_what_is_to_be_written(clone, bring):
    assert bring()[0] == 0
    code, lines = clone.kata("audit", "--only", "sums")
    told = [line.partition("to do in ")[2] for line in lines if "to do in " in line]
    files = [
        f"exercises/{SECTION}/README",
        f"exercises/{SECTION}/sums/__init__",
        f"tests/specimens/{SECTION}/sums",
    ]
    files += [
        f"tests/public/{SECTION}/test_sums",
        f"tests/hidden/{SECTION}/test_sums",
        f"exercises/{SECTION}/section",
    ]
    assert code == 1
    assert [*dict.fromkeys(line.partition(".")[0] for line in told)] == files, told
    assert sum("hints for" in line for line in told) == len(BUGS)
    assert not any("together" in line or "signature" in line for line in lines), lines


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--name", "double"), "an exercise is called 'double' already"),
        (("--name", "Sums"), "is no slug"),
        (("--section", "nowhere"), "no section is called 'nowhere'"),
        (("--patches", "nowhere"), "nowhere is no folder"),
    ],
)
def test_a_name_that_does_not_go(clone, bring, more, words):
    before = everything(clone)
    code, lines = bring(*more)
    assert (code, len(lines)) == (2, 1) and words in lines[0], lines
    assert everything(clone) == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (patch("main.py", "x\n", "y\n"), "hunk 1 of main.py does not apply: line 1 is 'import data'"),
        (
            patch("data.py", PROGRAM["data.py"], PROGRAM["data.py"].replace("range(count)", "count")),
            "both change line 2 of data.py",
        ),
        (
            patch("data.py", PROGRAM["data.py"], PROGRAM["data.py"].replace("::2]\n", "::2\n")),
            "more.patch: data.py:6 is no Python",
        ),
    ],
)
def test_a_patch_that_does_not_go(clone, bring, tmp_path, text, words):
    before = everything(clone)
    write(tmp_path / "Sums-of-mine/patches", {"more.patch": text})
    code, lines = bring()
    assert (code, len(lines)) == (2, 1) and words in lines[0], lines
    assert everything(clone) == before


def test_what_cannot_be_written_goes_again(clone, bring):
    (clone.root / "tests/hidden" / SECTION).touch()
    before = everything(clone)
    code, lines = bring()
    assert (code, len(lines)) == (2, 1) and "sums cannot be written" in lines[0], lines
    assert everything(clone) == before
    assert not (clone.root / "solutions" / SECTION).exists()


def test_a_place_that_is_taken(clone, bring):
    write(clone.root / "solutions" / SECTION / "sums", {"mine.py": ""})
    code, lines = bring()
    assert code == 2 and f"solutions/{SECTION}/sums is there already" in lines[0]


def test_its_options_are_for_bringing(clone):
    assert clone.kata("capstone", "--name", "sums") == (
        2,
        ["kata: --section, --name and --patches are for --bring FOLDER"],
    )
