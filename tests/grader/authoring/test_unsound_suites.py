"""A suite that its own reference does not pass costs that exercise its grade, and nobody any points."""

import json

import pytest

from grader import sandbox
from tests.grader.support.clone import HIDDEN, SOLUTION, Clone

READING = HIDDEN.replace("import torch\n", "import torch\nfrom pathlib import Path\n", 1).replace(
    "    x = torch.ones(3)\n", "    Path(__file__).read_text()\n    x = torch.ones(3)\n"
)
OFF = () if sandbox.unavailable() is None else ("--sandbox", "off")
AT_IMPORT = f"import nothing_like_it\n{HIDDEN}"
WRONG = HIDDEN.replace("x * 2", "x * 3")
MISNAMED = HIDDEN.replace("answer.double(torch.randn", "answer.treble(torch.randn")
BROKEN = {
    "speechless": (HIDDEN.split("def oracle")[0], "the suite that grades defines no oracle"),
    "unsound": (WRONG, "the reference fails hidden::test_values: wrong values"),
    "typo": (AT_IMPORT, "does not import: ModuleNotFoundError"),
    "misnamed": (MISNAMED, "the reference fails oracle: AttributeError"),
}
if sandbox.unavailable() is None:
    BROKEN["reading"] = (READING, "the reference fails hidden::test_input: ")


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    clone = Clone(tmp_path_factory.mktemp("clone"))
    clone.add("sound")
    for slug, (hidden, _) in BROKEN.items():
        clone.add(slug, hidden=hidden)
    folder = tmp_path_factory.mktemp("class")
    for student, factor in (("ada", "2.0"), ("bob", "3.0")):
        for file in (clone.root / "solutions" / "e01_tensors").glob("[!_]*.py"):
            answer = folder / "in" / student / "e01_tensors" / file.name
            answer.parent.mkdir(parents=True, exist_ok=True)
            answer.write_text(SOLUTION.replace("2.0", factor) + f"# {student}\n")
    status, lines = clone.kata("grade", str(folder / "in"), "--out", str(folder / "out"), *OFF)
    records = {file.stem: json.loads(file.read_text()) for file in (folder / "out").glob("*.json")}
    return status, lines, records


def test_the_others_are_graded(graded):
    status, _, records = graded
    assert status == 1
    found = {who: (r["exercises"]["sound"]["status"], r["score"], r["points"]) for who, r in records.items()}
    assert found == {"ada": ("passed", 1, 1), "bob": ("failed", 0, 1)}


@pytest.mark.parametrize("slug", BROKEN)
def test_a_line_names_the_exercise_and_says_why(graded, slug):
    _, lines, records = graded
    assert {r["exercises"][slug]["status"] for r in records.values()} == {"grader_fault"}
    (line,) = [line for line in lines if f": {slug}, 2 answers: " in line]
    assert BROKEN[slug][1] in line


def test_the_audit_names_them_too(tmp_path):
    clone = Clone(tmp_path)
    clone.add("typo", hidden=BROKEN["typo"][0])
    assert any(
        line.startswith("typo: tests/hidden/e01_tensors/test_typo.py does not import: ")
        for line in clone.kata("audit")[1]
    )
